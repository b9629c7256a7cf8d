/// Searches, and the documents that they are made among.
struct DocumentSearches: Sendable {
    let documents: [Document]
    let texts: [String]
    /// How many documents each search asks for.
    let limit: Int
    /// How many rows all searches together must find.
    let rows: Int

    /// - Throws: Where a contender found another number of rows.
    func check(_ name: String, _ found: Int) throws {
        guard found == rows else { throw BenchmarkError("\(name) found \(found) rows, not \(rows).") }
    }
}
