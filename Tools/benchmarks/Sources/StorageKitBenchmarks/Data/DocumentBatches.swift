/// Documents as they are inserted: so many a commit.
struct DocumentBatches: Sendable {
    /// Those that are there before the run.
    var before: ArraySlice<Document> = []
    let documents: [Document]
    let perCommit: Int
    /// A word that must be found in so many of them afterwards.
    let probe: String
    let probeCount: Int

    var commits: [ArraySlice<Document>] {
        stride(from: 0, to: documents.count, by: perCommit).map { documents[$0..<min($0 + perCommit, documents.count)] }
    }
}

extension DocumentBatches {
    /// - Parameter matches: How many documents the probe was found in; nil where there is no index.
    /// - Throws: Where a contender has stored or indexed something else.
    func check(_ name: String, rows: Int, matches: Int?) throws {
        guard rows == before.count + documents.count, matches ?? probeCount == probeCount else {
            throw BenchmarkError("\(name) stored \(rows) documents and finds \(matches ?? 0).")
        }
    }
}
