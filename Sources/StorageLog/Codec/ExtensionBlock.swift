internal import StorageCore

/// Parts that a later version may add to a commit header or to a segment's body: for each a varint tag, a varint length and the
/// content, in the order of their tags.
///
/// A part with an odd tag is required: a reader that doesn't know it must not interpret the rest. A part with an even tag may be
/// skipped, and is kept when the rest is rewritten.
enum ExtensionBlock {
    /// - Parameter take: Returns whether it knows the part.
    /// - Returns: The parts that `take` doesn't know, in their stored form; nil if the bytes are malformed.
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
