import GRDB

/// Everything left to `Codable`.
extension Document: FetchableRecord, PersistableRecord {
    static let databaseTableName = "document"
}

/// A document with the place that was found, left to `Codable`.
struct FoundDocument: Codable, FetchableRecord, Sendable {
    var id: String
    var title: String
    var body: String
    var updatedAt: Int64
    var snippet: String?
}
