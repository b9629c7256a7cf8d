internal import CSQLite
internal import CZstd
internal import Foundation
package import StorageCore

/// Turns a run of events into the body of one row of the log. `Format.md` describes the bytes.
///
/// Not thread-safe: the writer connection owns one and reuses its memory.
final class SegmentEncoder {
    /// The bytes of a row and what its other columns say of them.
    struct Row: Sendable {
        var header: SegmentHeader
        var body: [UInt8]
        /// The position of the row that the body is compressed against; 0 for none.
        var base: Int64 = 0
        /// The digest of the log up to the row; nil for a row that isn't sealed.
        var digest: [UInt8]?
    }

    private let context: OpaquePointer
    private var output = ByteBuffer(capacity: 1 << 16)
    /// Where blocks of the compressed body end, but for the last.
    private var cuts: [Int] = []
    private static let blockBytes = 512
    /// Bodies up to this size are stored as they are while they belong to the tail: compression is a
    /// fifth of the instructions of a small commit, and saves 50 of 200 bytes until the row is sealed.
    private static let storedBytes = 512
    private var run = EncodedRun()

    init() {
        // Creation fails only when memory is exhausted, which Swift can't survive either.
        context = ZSTD_createCCtx()!
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    }

    deinit { ZSTD_freeCCtx(context) }

    /// The body of the row that was encoded last, uncompressed.
    var lastBody: [UInt8] { Array(output.bytes) }

    /// Encodes `range` of the events, the first of which has position `first`.
    ///
    /// - Parameters:
    ///   - extensions: Parts that a newer version has given the row.
    ///   - sealing: What a sealed row needs besides its events; nil for a row of the tail.
    func encode(
        _ view: EventView, range: Range<Int>, first: Int64, commits: [CommitSlice], extensions: [UInt8] = [],
        level: Int32, sealing: SealingContext? = nil
    ) throws -> Row {
        try run.collect(view, range: range, first: first)
        let header = SegmentHeader(
            first: first, last: first + Int64(range.count) - 1, firstCommit: commits[0].info.number,
            lastCommit: commits[commits.count - 1].info.number, firstTime: commits[0].info.time,
            lastTime: commits[commits.count - 1].info.time, entities: run.entities)
        write(header: header, commits: commits, extensions: extensions)
        // The decoder refuses more, so that a damaged size can't make it ask for all of the memory.
        guard output.count <= Limits.segmentBytes else {
            throw StorageError(
                .limitExceeded,
                "The events from @\(first) on need \(output.count) bytes; a segment holds at most \(Limits.segmentBytes).",
                remedy: "Store large content in files, and their names here.")
        }
        var row = Row(header: header.with(size: output.count), body: [])
        guard let sealing else {
            // zstd's fastest level finds nothing to compress, and still adds its checksum.
            let level = output.count <= Self.storedBytes ? ZSTD_minCLevel() : level
            row.body = try compress(level: level, against: nil)
            return row
        }
        var chain = sealing.chain
        chain.add(output.bytes)
        row.digest = chain.digest
        guard let base = sealing.base else {
            row.body = try compress(level: level, against: nil)
            return row
        }
        row.body = try compress(level: level, against: base)
        row.base = base.position
        guard sealing.mustGain else { return row }
        let plain = try compress(level: level, against: nil)
        if Double(row.body.count) > Double(plain.count) * Limits.baseGain { (row.body, row.base) = (plain, 0) }
        return row
    }
}

// MARK: Bytes

extension SegmentEncoder {
    private func write(header: SegmentHeader, commits: [CommitSlice], extensions: [UInt8]) {
        output.removeAll()
        cuts.removeAll(keepingCapacity: true)
        header.append(to: &output)
        var section = ByteBuffer()
        CommitCodec.append(commits, to: &section)
        appendSection(section)

        section.removeAll()
        run.appendShapes(to: &section)
        appendSection(section)
        cut()
        appendSection(run.shapeIndexes)
        cut()
        appendSection(run.links)
        output.append(varint: UInt64(extensions.count))
        extensions.withUnsafeBytes { output.append($0) }
        output.append(varint: UInt64(run.streams.count))
        cut()
        for index in 0..<run.streams.count {
            output.append(varint: run.streams.base[index].identifier)
            run.streams.base[index].appendHeads(to: &output)
            cut()
            run.streams.base[index].appendBodies(to: &output)
            cut()
        }
        if cuts.last == output.count { cuts.removeLast() }
    }

    private func appendSection(_ section: borrowing ByteBuffer) {
        output.append(varint: UInt64(section.count))
        output.append(section.bytes)
    }

    /// Compresses the body. Parts that are long enough get blocks of their own, because letters of one column and
    /// digits of another need different codes: that is worth 5 to 12 % of the log, for nothing.
    private func compress(level: Int32, against base: SegmentBase?) throws -> [UInt8] {
        try SegmentDecoder.withBytes(of: base) { try compress(level: level, prefix: $0) }
    }

    private func compress(level: Int32, prefix: UnsafeRawBufferPointer?) throws -> [UInt8] {
        ZSTD_CCtx_reset(context, ZSTD_reset_session_only)
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)
        ZSTD_CCtx_setPledgedSrcSize(context, UInt64(output.count))
        if let prefix { ZSTD_CCtx_refPrefix(context, prefix.baseAddress, prefix.count) }
        // Each block may add a few bytes to what a single run is bound by.
        let bound = ZSTD_compressBound(output.count) + 64 * (cuts.count + 1)
        return try [UInt8](unsafeUninitializedCapacity: bound) { target, size in
            var compressed = ZSTD_outBuffer(dst: target.baseAddress, size: bound, pos: 0)
            var start = 0
            for end in cuts + [output.count] {
                var part = ZSTD_inBuffer(src: output.base + start, size: end - start, pos: 0)
                let isLast = end == output.count
                let left = ZSTD_compressStream2(context, &compressed, &part, isLast ? ZSTD_e_end : ZSTD_e_flush)
                guard left == 0 else {
                    size = 0
                    throw StorageError(
                        .unusable,
                        "A run of events couldn't be compressed: \(String(cString: ZSTD_getErrorName(left))).",
                        remedy: "Free some memory and try again.")
                }
                start = end
            }
            size = compressed.pos
        }
    }

    /// Ends a block of the compressed body here if what lies behind the last end is worth one.
    private func cut() {
        if output.count - (cuts.last ?? 0) >= Self.blockBytes { cuts.append(output.count) }
    }
}

extension StorageError {
    package static func corruptLog(_ what: String, cause: (any Error)? = nil) -> StorageError {
        StorageError(
            .corrupt, "The log is damaged: \(what).",
            remedy: "Run `storagekit verify` to see how far the damage goes, then restore a backup.", cause: cause)
    }
}
