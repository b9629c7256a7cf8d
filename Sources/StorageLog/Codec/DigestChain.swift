internal import Crypto

/// The digests of sealed segments, each of which covers everything before it.
///
/// The digest of a segment is the SHA-256 of the previous digest and of the uncompressed bodies that follow it, up to and
/// including the segment's own. The chain begins with the SHA-256 of the store's id, so that a segment of another store doesn't
/// fit. Compression isn't covered: a body may be compressed again.
package struct DigestChain {
    /// The size of a digest in bytes.
    package static let size = SHA256.byteCount

    private var hash = SHA256()

    /// Begins the chain, before its first segment.
    ///
    /// - Parameter store: The store's id.
    package init(store: [UInt8]) { continues(behind: Array(SHA256.hash(data: store))) }

    /// Adds the body of the next segment.
    mutating func add(_ body: UnsafeRawBufferPointer) { hash.update(bufferPointer: body) }

    /// Adds the body of the next segment.
    package mutating func add(_ batch: EventBatch) { batch.withBody { add($0) } }

    /// The digest of the segment that was added last.
    package var digest: [UInt8] { Array(hash.finalize()) }

    /// Continues the chain after a segment that has a digest.
    package mutating func continues(behind digest: [UInt8]) {
        hash = SHA256()
        hash.update(data: digest)
    }
}
