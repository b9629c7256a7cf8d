internal import CSQLite
internal import StorageCore

/// Finds the bodies that segments are compressed against, and keeps the most recent ones.
///
/// Not `Sendable`: it belongs to its connection's thread.
final class SegmentBaseCache {
    private let database: Connection
    private var select: PreparedStatement?
    private var recent: [SegmentBase] = []
    /// A segment's base and those that it needs in turn.
    private static let kept = 4

    init(_ database: Connection) { self.database = database }

    /// - Parameter position: The first position of the base, as a segment names it; 0 for a segment without one.
    /// - Throws: `corrupt` if there is no such segment, or if it can't be a base.
    func base(at position: Int64, using decoder: SegmentDecoder) throws -> SegmentBase? {
        try base(at: position, using: decoder, depth: 1)
    }

    /// The base at a position, read with a new decoder if it isn't cached.
    func base(at position: Int64) throws -> SegmentBase? {
        if let known = known(position) { return known }
        return try base(at: position, using: SegmentDecoder())
    }

    /// Caches a segment that was just written, and that later ones may be compressed against.
    func keep(_ base: SegmentBase) {
        if recent.count >= Self.kept { recent.removeFirst() }
        recent.append(base)
    }

    private func known(_ position: Int64) -> SegmentBase? { recent.first { $0.position == position } }

    private func base(at position: Int64, using decoder: SegmentDecoder, depth: Int) throws -> SegmentBase? {
        guard position != 0 else { return nil }
        if let known = known(position) { return known }
        guard depth <= Limits.baseDepth, let row = try row(at: position), row.base < position else {
            throw StorageError.corruptLog("later rows need @\(position), which isn't a row that can be a base")
        }
        let its = try base(at: row.base, using: decoder, depth: depth + 1)
        let found = SegmentBase(
            position: position, bytes: try decoder.decompressed(row.body, size: row.size, base: its))
        keep(found)
        return found
    }

    /// The sealed segment at a position, compressed.
    private func row(at position: Int64) throws -> (size: Int, base: Int64, body: [UInt8])? {
        let select =
            try self.select
            ?? PreparedStatement(
                database, "SELECT size, base, body FROM storage_log WHERE position = ? AND sealed = 1")
        self.select = select
        select.bind(position, at: 1)
        defer { select.reset() }
        guard try select.step(), (1...Int64(Limits.baseBytes)).contains(select.integer(0)) else { return nil }
        return (Int(select.integer(0)), select.integer(1), Array(select.bytes(2)))
    }
}
