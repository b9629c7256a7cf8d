@StorageEntity
struct A {
    @StorageJSON var id: String
}
