internal import CSQLite
internal import Foundation
internal import StorageCore

/// Neighbouring rows of the log that are to become one.
struct SealingRun: Sendable {
    struct Row: Sendable, Equatable {
        var position: Int64
        var last: Int64
    }

    /// In order, without a gap, at least one.
    var rows: [Row]
}

/// The row that several rows of the log were merged to, decoded again and found equal to them.
struct SegmentMerge: Sendable {
    /// The rows that it stands for: those of the run up to where their decoded values became too many.
    let replaced: [SealingRun.Row]
    let row: SegmentEncoder.Row

    /// Merges the rows of a run as a connection finds them; nil where somebody else has sealed them meanwhile.
    ///
    /// - Throws: Where a row can't be read, or where what was encoded doesn't decode to the same events.
    init?(_ run: SealingRun, from database: Connection, _ configuration: StorageConfig) throws {
        let start = run.rows[0].position
        let decoder = SegmentDecoder()
        let select = try PreparedStatement(
            database, "SELECT last, size, body FROM storage_log WHERE position = ? AND sealed = 0")
        var batches: [EventBatch] = []
        var bytes = 0
        for row in run.rows {
            select.bind(row.position, at: 1)
            defer { select.reset() }
            guard try select.step(), select.integer(0) == row.last else { return nil }
            let batch = try decoder.decode(body: select.bytes(2), size: Int(select.integer(1)))
            guard batch.header.first == row.position, batch.header.last == row.last else {
                throw StorageError.corruptLog("row @\(row.position) isn't where it should be")
            }
            bytes += batch.textBytes
            if bytes > Limits.segmentTargetBytes, !batches.isEmpty { break }
            // What a newer version has added belongs to the row that it was added to.
            if !batch.extensions.isEmpty, !batches.isEmpty { break }
            batches.append(batch)
            if !batch.extensions.isEmpty { break }
        }
        guard
            let sealing = try SealingContext(
                before: start, windowLength: configuration.segmentLength, in: database,
                bases: SegmentBaseCache(database))
        else { throw StorageError.breach("rows in front of @\(start) can't be had") }
        let merged = MergedEvents(batches)
        var encoded = try merged.withView { view in
            try SegmentEncoder().encode(
                view, range: 0..<view.count, first: start, commits: merged.slices,
                extensions: batches[0].extensions, level: configuration.sealedLevel, sealing: sealing)
        }
        encoded.body = configuration.sealedBody(encoded.body)
        let decoded = try encoded.body.withUnsafeBytes {
            try decoder.decode(body: $0, of: encoded.header, base: encoded.base == 0 ? nil : sealing.base)
        }
        guard merged.withView({ view in decoded.withView { view.isIdentical(to: $0) } }),
            merged.slices == decoded.slices, decoded.extensions == batches[0].extensions
        else {
            throw StorageError.breach(
                "rows @\(start)…@\(encoded.header.last) don't decode to what was sealed")
        }
        row = encoded
        replaced = Array(run.rows.prefix(batches.count))
    }
}

extension EventView {
    /// Whether two runs hold the same events, byte for byte.
    func isIdentical(to other: EventView) -> Bool {
        guard count == other.count else { return false }
        for index in 0..<count {
            let (shape, otherShape) = (shape(of: index), other.shape(of: index))
            guard events[index].previous == other.events[index].previous, shape.entity == otherShape.entity,
                shape.operation == otherShape.operation, shape.key_count == otherShape.key_count,
                shape.column_count == otherShape.column_count,
                (0..<Int(shape.column_count)).allSatisfy({ shape.columns[$0] == otherShape.columns[$0] })
            else { return false }
            let (values, otherValues) = (key(of: index), other.key(of: index))
            for offset in 0..<valueCount(of: index) {
                guard holds(values[offset], sameAs: otherValues[offset], in: other) else { return false }
            }
        }
        return true
    }

    private func holds(_ value: storage_value, sameAs other: storage_value, in view: EventView) -> Bool {
        guard value.type == other.type, value.size == other.size else { return false }
        guard value.hasBytes else {
            return value.bits == other.bits
        }
        return memcmp(bytes + Int(value.bits), view.bytes + Int(other.bits), Int(value.size)) == 0
    }
}
