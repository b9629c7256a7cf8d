@StorageEntity
struct Odd {
    var id: String
    var RawValue: Int
    var hashValue: Int
    var `init`: Int
    var `Type`: Int
    var `Protocol`: Int
    var `default`, `two words`: Int
    var Columns: Int
    var ColumnName: Int
    @StorageEmbedded var home: Address
    @StorageHasMany(foreignKey: "oddId") var lines: [Line]
}
