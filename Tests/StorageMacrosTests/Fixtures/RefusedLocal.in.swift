func make() {
    @StorageEntity
    struct User {
        var id: String
    }
}
