internal import CSQLite
internal import StorageCore

/// Chooses whether a sealed segment is compressed against an earlier one, its base, or by itself.
extension SealingContext {
    /// - Parameters:
    ///   - length: The positions of a window.
    ///   - bases: A cache of bases of segments that were sealed before.
    ///   - passes: Whether to read large bodies that sealing has skipped for the digest; if false, the result is nil if there are
    ///     any.
    init?(
        before position: Int64, windowLength length: Int, in database: Connection, bases: SegmentBaseCache,
        passes: Bool = true
    ) throws {
        guard let chain = try DigestChain(before: position, in: database, passes: passes) else { return nil }
        self.chain = chain
        let window = (position - 1) / Int64(length)
        let index = window % Limits.baseGroup
        guard index > 0 else { return }
        let previous = try PreparedStatement(
            database, "SELECT base FROM storage_log WHERE position < ? ORDER BY position DESC LIMIT 1")
        previous.bind(position, at: 1)
        mustGain = try !previous.step() || previous.integer(0) == 0
        // Two segments of a group test whether a base is worth it; the others follow the previous one.
        guard !mustGain || index == 1 || index == Limits.baseGroup / 2 else { return }
        let start = (window - index + index & (index - 1)) * Int64(length) + 1
        let find = try PreparedStatement(
            database,
            """
            SELECT position, size FROM storage_log WHERE position BETWEEN ?1 AND ?2 AND sealed = 1
            ORDER BY position LIMIT 1
            """)
        find.bind(start, at: 1)
        find.bind(start + Int64(length) - 1, at: 2)
        guard try find.step(), find.integer(1) <= Limits.baseBytes else { return }
        base = try bases.base(at: find.integer(0))
    }

    /// Whether later segments may be compressed against this one, as the initialiser finds them: the first of a window with an
    /// even number in its group.
    static func mayBeBase(_ header: SegmentHeader, windowLength length: Int64) -> Bool {
        let (window, offset) = (header.first - 1).quotientAndRemainder(dividingBy: length)
        return offset == 0 && (window % Limits.baseGroup) & 1 == 0 && header.size <= Limits.baseBytes
    }
}
