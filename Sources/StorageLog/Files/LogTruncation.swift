internal import CSQLite
internal import StorageCore

/// Truncates the log of a file that no other process has open.
package enum LogTruncation {
    /// Removes everything after the end of a commit. Earlier segments stay byte for byte the same; one that also holds later
    /// events is rewritten with the events that remain.
    ///
    /// - Parameter position: The last position of a commit, or 0.
    package static func run(_ database: Connection, through position: Int64) throws {
        guard position > 0, let batch = try LogReader(database).batch(containing: position) else {
            guard position == 0 else { throw StorageError.corruptLog("position @\(position) is missing") }
            return try PreparedStatement(database, "DELETE FROM storage_log").execute()
        }
        let first = batch.header.first
        let count = Int(position - first) + 1
        guard batch.header.last > position else {
            return try PreparedStatement(database, "DELETE FROM storage_log WHERE position > ?").run(position)
        }
        var slices: [CommitSlice] = []
        var left = count
        for slice in batch.slices where left > 0 {
            guard slice.eventCount <= left else {
                throw StorageError(
                    .invalidArgument, "The log can't be cut at @\(position), inside commit \(slice.info.number).",
                    remedy: "Cut it where a commit ends.")
            }
            left -= slice.eventCount
            slices.append(slice)
        }
        let row = try batch.withView { view in
            let kept = EventView(
                events: view.events, count: count, values: view.values, bytes: view.bytes, shapes: view.shapes,
                shapeCount: view.shapeCount)
            return try SegmentEncoder().encode(
                kept, range: 0..<count, first: first, commits: slices, extensions: batch.extensions,
                level: StorageConfig().tailLevel)
        }
        try PreparedStatement(database, "DELETE FROM storage_log WHERE position >= ?").run(first)
        // Not sealed: its window is open again.
        try row.insert(with: PreparedStatement(database, EncodedSegment.insertion))
    }
}
