internal import CSQLite
internal import Crypto
internal import StorageCore

/// The digests of sealed rows, each of which stands for everything before it.
///
/// The digest of a row is the SHA-256 of the digest before it and of the bodies, uncompressed, of the rows from behind that one
/// to itself. In front of the first stands the SHA-256 of the store's id, so that no row of another store fits. Compression
/// isn't part of it: a body may be compressed again.
package struct DigestChain {
    /// The bytes of a digest.
    package static let size = SHA256.byteCount

    private var hash = SHA256()

    /// The chain before its first row.
    package init(store: StoreLineage) {
        var id = SHA256()
        id.update(data: store.store)
        follow(Array(id.finalize()))
    }

    /// The chain behind a digest.
    private mutating func follow(_ digest: [UInt8]) {
        hash = SHA256()
        hash.update(data: digest)
    }

    /// Adds the body of the next row.
    mutating func add(_ body: UnsafeRawBufferPointer) { hash.update(bufferPointer: body) }

    /// Adds the body of the next row.
    package mutating func add(_ batch: EventBatch) { batch.withBody { add($0) } }

    /// The digest of the row that was added last.
    package var digest: [UInt8] { Array(hash.finalize()) }

    /// Goes on behind a row that carries a digest.
    package mutating func continues(behind digest: [UInt8]) { follow(digest) }
}

extension DigestChain {
    /// The chain as it stands in front of a row that is to be sealed.
    ///
    /// - Parameter passes: Whether bodies without a digest in between, which may be large, are read; nil is answered for them
    ///   otherwise.
    init?(before position: Int64, in database: OpaquePointer, passes: Bool) throws {
        self.init(store: try StoreLineage.load(database))
        var reached: Int64 = 0
        // Where nothing may be read, one look has to do: many rows without a digest may lie in front.
        let condition = passes ? "AND digest IS NOT NULL" : ""
        let last = try Statement(
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
            follow(digest)
        }
        guard reached < position - 1 else { return }
        let between = try Statement(
            database, "SELECT size, body, base FROM storage_log WHERE position > ?1 AND position < ?2 ORDER BY position"
        )
        between.bind(reached, at: 1)
        between.bind(position, at: 2)
        let decoder = SegmentDecoder()
        let bases = SegmentBases(database)
        while try between.step() {
            let base = try bases.base(at: between.integer(2), using: decoder)
            try decoder.forEachPart(of: between.bytes(1), size: between.integer(0), base: base) { add($0) }
        }
    }
}
