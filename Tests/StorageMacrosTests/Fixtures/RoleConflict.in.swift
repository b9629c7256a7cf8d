@StorageEntity
struct A {
    var id: String
    @StorageJSON @StorageEmbedded var both: Address
}
