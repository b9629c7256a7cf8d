internal import StorageLog

/// Marks commits whose rows were fetched from a remote. They aren't writes of this store, so no engine sends them.
enum FetchedCommit {
    static let attributes = ["sync.rows": "fetched"]

    static func isOne(_ metadata: CommitMetadata) -> Bool { metadata.attributes["sync.rows"] == "fetched" }
}

/// Looks up which events belong to such commits.
///
/// Not `Sendable`: it belongs to its connection's thread.
///
/// - Complexity: Decodes a segment for each commit at worst; fewer if positions are ascending.
final class FetchedPositions {
    private let reader: LogReader
    private var known: (positions: Range<Int64>, areFetched: Bool)?

    init(_ reader: LogReader) { self.reader = reader }

    func includes(_ position: Int64) throws -> Bool {
        if let known, known.positions.contains(position) { return known.areFetched }
        guard let batch = try reader.batch(containing: position) else { return false }
        let start = batch.positions.lowerBound
        for (info, events) in batch.commits {
            let positions = start + Int64(events.lowerBound)..<start + Int64(events.upperBound)
            guard positions.contains(position) else { continue }
            let areFetched = FetchedCommit.isOne(info.metadata)
            known = (positions, areFetched)
            return areFetched
        }
        return false
    }
}
