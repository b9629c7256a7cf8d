@StorageEntity
struct A {
    var id: String
    @StorageEmbedded(prefix: somewhere) var home: Address
}
