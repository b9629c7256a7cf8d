@StorageEntity
struct E {
    var id: String
}

@StorageEntity
struct Columns {
    var id: String
}

@StorageEntity
struct ColumnName {
    var id: String
}
