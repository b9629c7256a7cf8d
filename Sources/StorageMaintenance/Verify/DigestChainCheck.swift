internal import StorageLog

/// Checks the digests of sealed segments, each against the bodies since the previous digest: a segment that was
/// replaced by an older one, or taken from another store, is valid by itself.
struct DigestChainCheck {
    private var chain: DigestChain
    /// Whether a segment couldn't be read: the chain then continues after the next digest.
    private var isResuming = false

    init(_ database: Connection) throws { chain = DigestChain(store: try StoreLineage.load(database).store) }

    /// - Parameter row: Position, last position, whether it is sealed, digest.
    mutating func check(_ batch: EventBatch, row: PreparedStatement, report: inout VerifyReport) {
        chain.add(batch)
        let digest = Array(row.bytes(3))
        let isSealed = row.integer(2) != 0
        if isSealed != (digest.count == DigestChain.size) {
            report.add("log", position: row.integer(0), "a row has a digest if it is sealed, and only then")
        } else if isSealed, !isResuming, digest != chain.digest {
            report.add("log", position: row.integer(0), "the digest isn't that of the log up to here")
        }
        follow(digest)
    }

    mutating func skip(_ row: PreparedStatement) {
        isResuming = true
        follow(Array(row.bytes(3)))
    }

    private mutating func follow(_ digest: [UInt8]) {
        guard digest.count == DigestChain.size else { return }
        chain.continues(behind: digest)
        isResuming = false
    }
}
