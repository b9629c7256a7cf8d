/// Selects the documents that match a query from a sequence of documents.
///
/// For a query with a limit, it keeps up to twice as many documents, however many there are.
struct QuerySelection<Document> {
    private struct Found {
        let document: Document
        let id: String
        /// The document's sort key.
        let sortKey: [JSONValue]
        let byteCount: Int
    }

    private let query: QueryEvaluation
    private var found: [Found] = []
    /// The total size of the kept documents.
    private(set) var byteCount = 0

    init(_ query: QueryEvaluation) { self.query = query }

    /// Keeps a document if it matches the query.
    ///
    /// - Parameter byteCount: The document's size for ``byteCount``.
    /// - Complexity: O(log *n*) in the number of kept documents, on average.
    mutating func add(_ document: Document, id: String, json: JSONValue, byteCount: Int = 0) {
        guard let sortKey = query.sortKey(of: json) else { return }
        found.append(Found(document: document, id: id, sortKey: sortKey, byteCount: byteCount))
        self.byteCount += byteCount
        // At twice the limit, so that each document is sorted only once on average.
        if let limit = query.limit, (found.count - 1) / 2 >= limit { cut() }
    }

    /// The kept documents; sorted after ``cut()``.
    var documents: [Document] { found.map(\.document) }

    /// Sorts the documents and drops those beyond the limit.
    mutating func cut() {
        found.sort { query.isBefore(($0.sortKey, $0.id), ($1.sortKey, $1.id)) }
        guard let limit = query.limit, found.count > limit else { return }
        found = Array(query.isLimitedToLast ? found.suffix(limit) : found.prefix(limit))
        byteCount = found.reduce(0) { $0 + $1.byteCount }
    }
}
