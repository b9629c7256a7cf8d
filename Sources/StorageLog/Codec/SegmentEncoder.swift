internal import CSQLite
internal import CZstd
internal import Foundation
package import StorageCore

/// Encodes a run of events as the body of one segment. `Format.md` describes the bytes.
///
/// Not thread-safe: the writer connection owns one and reuses its memory.
final class SegmentEncoder {
    private let context: OpaquePointer
    /// The base of the segment, if it has one, directly followed by the body: zstd searches one contiguous run of bytes faster
    /// than two separate ones.
    private var output = ByteBuffer(capacity: 1 << 16)
    private var baseCount = 0
    /// The ends of the compressed body's blocks except the last; offsets from the body's start.
    private var cuts: [Int] = []
    private var compressed = ByteBuffer()
    private static let blockBytes = 512
    /// Bodies up to this size are stored as they are while they belong to the tail: compression is a
    /// fifth of the instructions of a small commit, and saves 50 of 200 bytes until the row is sealed.
    private static let storedBytes = 512
    /// The decision "Seal at zstd level 5 with a longer search" has the figures.
    private static let sealedSearchLog: Int32 = 5
    private var run = EncodedRun()

    /// - Parameter copiesBody: Whether zstd copies each body into its own window. From version 1.5.4 on it can read the body
    ///   without a copy, although it gets it in parts (`ZSTD_c_stableInBuffer`).
    init(copiesBody: Bool = ZSTD_versionNumber() < 10504) {
        // Creation fails only when memory is exhausted, which Swift can't survive either.
        context = ZSTD_createCCtx()!
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
        ZSTD_CCtx_setParameter(context, ZSTD_c_experimentalParam9, copiesBody ? 0 : 1)
    }

    deinit { ZSTD_freeCCtx(context) }

    /// The uncompressed body of the segment that was encoded last.
    var lastBody: [UInt8] { Array(body) }

    private var body: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: output.bytes[baseCount...]) }

    /// Encodes `range` of the events, the first of which has position `first`.
    ///
    /// - Parameters:
    ///   - extensions: Parts that a newer version has added to the segment.
    ///   - sealing: What a sealed segment depends on besides its events; nil for a segment of the tail.
    func encode(
        _ view: EventView, range: Range<Int>, first: Int64, commits: [CommitSlice], extensions: [UInt8] = [],
        level: Int32, sealing: SealingContext? = nil
    ) throws -> EncodedSegment {
        try run.collect(view, range: range, first: first)
        let header = SegmentHeader(
            first: first, last: first + Int64(range.count) - 1, firstCommit: commits[0].info.number,
            lastCommit: commits[commits.count - 1].info.number, firstTime: commits[0].info.time,
            lastTime: commits[commits.count - 1].info.time, entities: run.entities)
        write(header: header, commits: commits, extensions: extensions, behind: sealing?.base)
        // The decoder refuses larger bodies, so that a damaged size can't make it allocate all memory.
        guard body.count <= Limits.segmentBytes else {
            throw StorageError(
                .limitExceeded,
                "The events from @\(first) on need \(body.count) bytes; a segment holds at most \(Limits.segmentBytes).",
                remedy: "Store large content in files, and their names here.")
        }
        var segment = EncodedSegment(header: header.with(size: body.count), body: [])
        guard let sealing else {
            // zstd's fastest level finds nothing to compress, but still adds its checksum.
            let level = body.count <= Self.storedBytes ? ZSTD_minCLevel() : level
            segment.body = try compress(level: level)
            return segment
        }
        var chain = sealing.chain
        chain.add(body)
        segment.digest = chain.digest
        segment.body = try compress(level: level, searchLog: Self.sealedSearchLog, againstBase: sealing.base != nil)
        guard let base = sealing.base else { return segment }
        segment.base = base.position
        guard sealing.mustGain else { return segment }
        let plain = try compress(level: level, searchLog: Self.sealedSearchLog)
        if Double(segment.body.count) > Double(plain.count) * Limits.baseGain {
            (segment.body, segment.base) = (plain, 0)
        }
        return segment
    }
}

// MARK: Bytes

extension SegmentEncoder {
    private func write(
        header: SegmentHeader, commits: [CommitSlice], extensions: [UInt8], behind base: SegmentBase?
    ) {
        output.removeAll()
        base?.bytes.withUnsafeBytes { output.append($0) }
        baseCount = output.count
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
        if cuts.last == body.count { cuts.removeLast() }
    }

    private func appendSection(_ section: borrowing ByteBuffer) {
        output.append(varint: UInt64(section.count))
        output.append(section.bytes)
    }

    /// Compresses the body. Parts that are long enough get blocks of their own, because letters of one column and digits of
    /// another need different codes: that saves 5 to 12 % of the log at no cost.
    ///
    /// - Parameter searchLog: The binary logarithm of the number of earlier matches to compare; nil for the level's default.
    private func compress(level: Int32, searchLog: Int32? = nil, againstBase: Bool = false) throws -> [UInt8] {
        ZSTD_CCtx_reset(context, ZSTD_reset_session_only)
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)
        ZSTD_CCtx_setParameter(context, ZSTD_c_searchLog, searchLog ?? 0)
        ZSTD_CCtx_setPledgedSrcSize(context, UInt64(body.count))
        if againstBase { ZSTD_CCtx_refPrefix(context, output.base, baseCount) }
        // Each block may add a few bytes to the bound of a single run.
        let bound = ZSTD_compressBound(body.count) + 64 * (cuts.count + 1)
        compressed.removeAll()
        var target = ZSTD_outBuffer(dst: compressed.reserve(bound), size: bound, pos: 0)
        var source = ZSTD_inBuffer(src: body.baseAddress, size: 0, pos: 0)
        for end in cuts + [body.count] {
            source.size = end
            let isLast = end == body.count
            let left = ZSTD_compressStream2(context, &target, &source, isLast ? ZSTD_e_end : ZSTD_e_flush)
            guard left == 0 else {
                throw StorageError(
                    .unusable,
                    "A run of events couldn't be compressed: \(String(cString: ZSTD_getErrorName(left))).",
                    remedy: "Free some memory and try again.")
            }
        }
        return Array(UnsafeRawBufferPointer(start: target.dst, count: target.pos))
    }

    /// Ends a block of the compressed body here if the bytes since the last end are worth one.
    private func cut() {
        if body.count - (cuts.last ?? 0) >= Self.blockBytes { cuts.append(body.count) }
    }
}

extension StorageError {
    package static func corruptLog(_ what: String, cause: (any Error)? = nil) -> StorageError {
        StorageError(
            .corrupt, "The log is damaged: \(what).",
            remedy: "Run `storagekit verify` to see how far the damage goes, then restore a backup.", cause: cause)
    }
}
