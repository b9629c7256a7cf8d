internal import StorageCore

/// Parts that a later version may add to a commit header or to a row's body: for each a varint tag, a varint length and the
/// content, in the order of their tags.
///
/// An odd tag says that nothing may be concluded without knowing the part; an even one may be skipped, and is kept where the
/// rest is written again.
enum ExtensionBlock {
    /// - Parameter take: Answers whether it knows the part.
    /// - Returns: The parts that `take` doesn't know, as they are stored; nil where the bytes make no sense.
    /// - Throws: `unsupported-format` for a part with an odd tag that `take` doesn't know.
    static func read(
        _ block: ByteReader, take: (_ tag: UInt64, _ content: inout ByteReader) -> Bool = { _, _ in false }
    ) throws -> [UInt8]? {
        var reader = block
        var unknown: [UInt8] = []
        var last: UInt64 = 0
        while reader.remaining > 0 {
            let start = reader.next
            let tag = reader.varint()
            var content = reader.slice()
            guard !reader.failed, tag > last else { return nil }
            last = tag
            if take(tag, &content) {
                guard !content.failed, content.remaining == 0 else { return nil }
                continue
            }
            guard tag % 2 == 0 else {
                throw StorageError(
                    .unsupportedFormat, "The log has a part \(tag) that this version of StorageKit doesn't know.",
                    remedy: "Open the store with a newer version of StorageKit.")
            }
            unknown.append(contentsOf: UnsafeBufferPointer(start: start, count: reader.next - start))
        }
        return unknown
    }
}
