internal import CSQLite
internal import StorageCore

extension DigestChain {
    /// The chain up to a segment that is to be sealed.
    ///
    /// - Parameter passes: Whether to read preceding bodies without a digest, which may be large; if false, the result is nil if
    ///   there are any.
    init?(before position: Int64, in database: Connection, passes: Bool) throws {
        self.init(store: try StoreLineage.load(database).store)
        var reached: Int64 = 0
        // If nothing may be read, only the previous segment is examined, because many without a digest may precede.
        let condition = passes ? "AND digest IS NOT NULL" : ""
        let last = try PreparedStatement(
            database,
            "SELECT last, digest FROM storage_log WHERE position < ? \(condition) ORDER BY position DESC LIMIT 1")
        last.bind(position, at: 1)
        if try last.step() {
            let digest = Array(last.bytes(1))
            guard digest.count == Self.size else {
                guard passes else { return nil }
                throw StorageError.corruptLog("the row that ends @\(last.integer(0)) has a digest of another length")
            }
            reached = last.integer(0)
            continues(behind: digest)
        }
        guard reached < position - 1 else { return }
        let between = try PreparedStatement(
            database, "SELECT size, body, base FROM storage_log WHERE position > ?1 AND position < ?2 ORDER BY position"
        )
        between.bind(reached, at: 1)
        between.bind(position, at: 2)
        let decoder = SegmentDecoder()
        let bases = SegmentBaseCache(database)
        while try between.step() {
            let base = try bases.base(at: between.integer(2), using: decoder)
            try decoder.forEachPart(of: between.bytes(1), size: between.integer(0), base: base) { add($0) }
        }
    }
}
