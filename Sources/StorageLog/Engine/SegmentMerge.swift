internal import CSQLite
internal import StorageCore

/// The segment that several segments were merged to, decoded again and verified to equal them.
struct SegmentMerge: Sendable {
    /// The segments that it replaces: those of the run up to the limit of their decoded values.
    let replaced: [ClosedRange<Int64>]
    let row: EncodedSegment

    /// Merges the segments at these positions; nil if another task has sealed them meanwhile.
    ///
    /// - Throws: An error if a segment can't be read, or if the encoded segment doesn't decode to the same events.
    init?(_ run: [ClosedRange<Int64>], from database: Connection, _ configuration: StorageConfig) throws {
        let start = run[0].lowerBound
        let decoder = SegmentDecoder()
        let select = try PreparedStatement(
            database, "SELECT last, size, body FROM storage_log WHERE position = ? AND sealed = 0")
        var batches: [EventBatch] = []
        var bytes = 0
        for row in run {
            select.bind(row.lowerBound, at: 1)
            defer { select.reset() }
            guard try select.step(), select.integer(0) == row.upperBound else { return nil }
            let batch = try decoder.decode(body: select.bytes(2), size: Int(select.integer(1)))
            guard batch.header.first == row.lowerBound, batch.header.last == row.upperBound else {
                throw StorageError.corruptLog("row @\(row.lowerBound) isn't where it should be")
            }
            bytes += batch.textBytes
            if bytes > Limits.segmentTargetBytes, !batches.isEmpty { break }
            // Parts that a newer version has added belong only to the segment that they were added to.
            if !batch.extensions.isEmpty, !batches.isEmpty { break }
            batches.append(batch)
            if !batch.extensions.isEmpty { break }
        }
        guard
            let sealing = try SealingContext(
                before: start, windowLength: configuration.segmentLength, in: database,
                bases: SegmentBaseCache(database))
        else { throw StorageError.breach("rows in front of @\(start) can't be had") }
        let merged = EventBatch(merging: batches)
        var encoded = try merged.withView { view in
            try SegmentEncoder().encode(
                view, range: 0..<view.count, first: start, commits: merged.slices,
                extensions: merged.extensions, level: configuration.sealedLevel, sealing: sealing)
        }
        encoded.body = configuration.sealedBody(encoded.body)
        let decoded = try encoded.body.withUnsafeBytes {
            try decoder.decode(body: $0, of: encoded.header, base: encoded.base == 0 ? nil : sealing.base)
        }
        guard merged.withView({ view in decoded.withView { view.isIdentical(to: $0) } }),
            merged.slices == decoded.slices, decoded.extensions == merged.extensions
        else {
            throw StorageError.breach(
                "rows @\(start)…@\(encoded.header.last) don't decode to what was sealed")
        }
        row = encoded
        replaced = Array(run.prefix(batches.count))
    }
}
