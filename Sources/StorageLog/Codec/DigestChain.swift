internal import Crypto

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
    ///
    /// - Parameter store: The store's id.
    package init(store: [UInt8]) { continues(behind: Array(SHA256.hash(data: store))) }

    /// Adds the body of the next row.
    mutating func add(_ body: UnsafeRawBufferPointer) { hash.update(bufferPointer: body) }

    /// Adds the body of the next row.
    package mutating func add(_ batch: EventBatch) { batch.withBody { add($0) } }

    /// The digest of the row that was added last.
    package var digest: [UInt8] { Array(hash.finalize()) }

    /// Goes on behind a row that carries a digest.
    package mutating func continues(behind digest: [UInt8]) {
        hash = SHA256()
        hash.update(data: digest)
    }
}
