/// Names that contests and budgets share.
enum ContenderName {
    static let storageKit = "StorageKit"
    static let codableUpsert = "GRDB Codable upsert"
    static let handwrittenUpsert = "GRDB hand-written upsert"
    static let cachedStatement = "GRDB cached statement"
    static let poolWrite = "GRDB pool.write"
    static let cUpsert = "C upsert"
    static let cBulkLoad = "C bulk load"
    static let cParseAndUpsert = "C parse and upsert"
}
