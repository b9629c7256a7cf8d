import GRDB

/// The same row with its columns encoded and decoded by hand, by position.
struct HandwrittenDocument: FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "document"

    let document: Document

    init(_ document: Document) {
        self.document = document
    }

    init(row: Row) {
        document = Document(id: row[0], title: row[1], body: row[2], updatedAt: row[3])
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = document.id
        container["title"] = document.title
        container["body"] = document.body
        container["updatedAt"] = document.updatedAt
    }
}

/// A document that a search found, with its rank and an excerpt, decoded by position.
struct HandwrittenFoundDocument: FetchableRecord, Sendable {
    let document: Document
    let rank: Double
    let snippet: String?

    init(row: Row) {
        document = Document(id: row[0], title: row[1], body: row[2], updatedAt: row[3])
        rank = row[4]
        snippet = row[5]
    }
}
