/// Names that contests and budgets share.
enum ContenderName {
    static let storageKit = "StorageKit"
    static let storageKitWithoutIndex = "StorageKit without the index"
    static let codableFetch = "GRDB fetchAll, Codable"
    static let handwrittenFetch = "GRDB fetchAll, hand-written"
    static let codableRecord = "GRDB Codable record"
    static let handwrittenRecord = "GRDB hand-written record"
    static let cachedStatementWithoutIndex = "GRDB cached statement without the index"
    static let codableUpsert = "GRDB Codable upsert"
    static let handwrittenUpsert = "GRDB hand-written upsert"
    static let cachedStatement = "GRDB cached statement"
    static let poolWrite = "GRDB pool.write"
    static let cUpsert = "C upsert"
    static let cBulkLoad = "C bulk load"
    static let cParseAndUpsert = "C parse and upsert"
    static let clientOfGRDB = "SQLiteClient, GRDB"
    static let clientOfNIO = "SQLiteClient, SwiftNIO"
    /// The same commits with nobody looking.
    static let unwatched = "StorageKit, no view"
    static let observation = "GRDB ValueObservation"
    static let constantRegion = "GRDB trackingConstantRegion"
    static let unobserved = "GRDB, no observation"
}
