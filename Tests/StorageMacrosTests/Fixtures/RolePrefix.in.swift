@StorageEntity
struct A {
    var id: String
    @StorageEmbedded(prefix: "x_") var home: Address
    @StorageEmbedded(prefix: "X_") var work: Address
}
