@StorageEntity
struct A {
    var id: String
    @StorageJSON var computed: Int { 1 }
    @StorageJSON static var shared: Int = 1
    @StorageHasMany(foreignKey: "x") func none() {}
}
