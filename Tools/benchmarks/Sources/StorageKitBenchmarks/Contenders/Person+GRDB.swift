import GRDB

/// Everything left to `Codable`: the record most people write.
extension Person: FetchableRecord, PersistableRecord {
    static let databaseTableName = "person"
}
