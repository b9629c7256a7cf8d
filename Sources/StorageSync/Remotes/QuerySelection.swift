/// What a query finds among documents that come one after another.
///
/// Of a query with a limit it keeps up to twice as many documents, however many come.
struct QuerySelection<Document> {
    private struct Found {
        let document: Document
        let id: String
        /// What it is sorted by.
        let sortKey: [JSONValue]
        let byteCount: Int
    }

    private let query: QueryEvaluation
    private var found: [Found] = []
    /// Of the documents that are kept.
    private(set) var byteCount = 0

    init(_ query: QueryEvaluation) { self.query = query }

    /// Keeps a document if the query finds it.
    ///
    /// - Parameter byteCount: What it counts in ``byteCount``.
    /// - Complexity: O(log *n*) in the documents that are kept, on average.
    mutating func add(_ document: Document, id: String, json: JSONValue, byteCount: Int = 0) {
        guard let sortKey = query.sortKey(of: json) else { return }
        found.append(Found(document: document, id: id, sortKey: sortKey, byteCount: byteCount))
        self.byteCount += byteCount
        // Twice as many, so that they are sorted once for each of them only.
        if let limit = query.limit, (found.count - 1) / 2 >= limit { cut() }
    }

    /// Those that are kept; in the query's order behind ``cut()``.
    var documents: [Document] { found.map(\.document) }

    /// Leaves as many as the limit says, in the query's order.
    mutating func cut() {
        found.sort { query.isBefore(($0.sortKey, $0.id), ($1.sortKey, $1.id)) }
        guard let limit = query.limit, found.count > limit else { return }
        found = Array(query.isLimitedToLast ? found.suffix(limit) : found.prefix(limit))
        byteCount = found.reduce(0) { $0 + $1.byteCount }
    }
}
