@StorageEntity
struct Row {
    var id: String
    var row: String
    var entity: String
    var now: Int
    var container: String
    var databaseTableName: String
}
