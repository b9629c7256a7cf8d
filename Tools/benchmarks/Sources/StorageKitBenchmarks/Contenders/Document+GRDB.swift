import GRDB

/// Everything left to `Codable`.
extension Document: FetchableRecord, PersistableRecord {
    static let databaseTableName = "document"
}

/// A document that a search found, with its rank and an excerpt, left to `Codable`.
struct FoundDocument: Codable, FetchableRecord, Sendable {
    var id: String
    var title: String
    var body: String
    var updatedAt: Int64
    var rank: Double
    var snippet: String?
}
