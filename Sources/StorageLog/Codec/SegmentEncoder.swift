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
    private var links = ByteBuffer()
    private var shapeIndexes = ByteBuffer()
    private var streams: [ColumnStream] = []
    private var streamCount = 0
    private var streamOfColumn: [UInt64: Int] = [:]

    private var localShapes: [LocalShape] = []
    private var localOfShape: [Int32] = []
    /// Runs put together from several rows bring the same shape several times.
    private var localOfContent: [ShapeContent: Int] = [:]

    /// Per event the number of its row within this run, and per row the last known value of each column.
    private var slotOfEvent: [Int32] = []
    private var slots = ValueDictionary()
    private var columnIndices = ColumnIndexMap()

    init() {
        // Creation fails only when memory is exhausted, which Swift can't survive either.
        context = ZSTD_createCCtx()!
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    }

    deinit { ZSTD_freeCCtx(context) }

    /// Encodes `range` of the events, the first of which has position `first`.
    ///
    /// - Parameters:
    ///   - extensions: Parts that a newer version has given the row.
    ///   - sealing: What a sealed row needs besides its events; nil for a row of the tail.
    func encode(
        _ view: EventView, range: Range<Int>, first: Int64, commits: [CommitSlice], extensions: [UInt8] = [],
        level: Int32, sealing: SealingContext? = nil
    ) throws -> Row {
        try collect(view, range: range, first: first)
        let header = SegmentHeader(
            first: first, last: first + Int64(range.count) - 1, firstCommit: commits[0].info.number,
            lastCommit: commits[commits.count - 1].info.number, firstTime: commits[0].info.time,
            lastTime: commits[commits.count - 1].info.time, entities: Set(localShapes.map(\.entity)).sorted())
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

private struct ShapeContent: Hashable {
    let entity: UInt32
    let operation: UInt32
    let columns: [UInt32]
}

/// A shape as one row of the log knows it: its columns by number of stream.
///
/// A class, because it is looked at for each event, and copying a value of four arrays counts four references.
private final class LocalShape {
    let entity: UInt32
    let operation: UInt32
    let columns: [UInt32]
    let keyStreams: [Int]
    let columnStreams: [Int]
    /// Place of each column among the entity's columns in this run.
    let columnIndices: [Int]

    init(
        entity: UInt32, operation: UInt32, columns: [UInt32], keyStreams: [Int], columnStreams: [Int],
        columnIndices: [Int]
    ) {
        self.entity = entity
        self.operation = operation
        self.columns = columns
        self.keyStreams = keyStreams
        self.columnStreams = columnStreams
        self.columnIndices = columnIndices
    }
}

// MARK: Events

extension SegmentEncoder {
    private func collect(_ view: EventView, range: Range<Int>, first: Int64) throws {
        links.removeAll()
        shapeIndexes.removeAll()
        for index in 0..<streamCount { streams[index].reset() }
        streamCount = 0
        streamOfColumn.removeAll(keepingCapacity: true)
        localShapes.removeAll(keepingCapacity: true)
        localOfShape = [Int32](repeating: -1, count: view.shapeCount)
        localOfContent.removeAll(keepingCapacity: true)
        slotOfEvent.removeAll(keepingCapacity: true)
        slots.reset()
        columnIndices.reset()

        for index in range {
            let event = view.events[index]
            let position = first + Int64(index - range.lowerBound)
            let local = localShape(view, Int(event.shape))
            shapeIndexes.append(varint: UInt64(local))
            guard (0..<position).contains(event.previous) else {
                throw StorageError.corruptLog("event @\(position) points to @\(event.previous)")
            }
            let distance = event.previous == 0 ? 0 : position - event.previous
            links.append(varint: UInt64(distance))
            let linked = distance > 0 && event.previous >= first ? Int(event.previous - first) : nil
            try append(view, index, shape: local, linked: linked.map { $0 + range.lowerBound }, base: range.lowerBound)
        }
    }

    private func append(_ view: EventView, _ index: Int, shape local: Int, linked: Int?, base: Int) throws {
        let shape = localShapes[local]
        let streams = streams
        let key = view.key(of: index)
        let slot: Int
        if let linked {
            slot = Int(slotOfEvent[linked - base])
            let earlier = view.key(of: linked)
            for part in shape.keyStreams.indices where !view.same(key[part], earlier[part]) {
                throw StorageError.corruptLog("a back-link joins events of two rows")
            }
        } else {
            slot = slots.add(columns: columnIndices.count(of: shape.entity))
            for (part, stream) in shape.keyStreams.enumerated() { streams[stream].append(key[part], view) }
        }
        slotOfEvent.append(Int32(slot))

        let values = view.columns(of: index)
        let count = shape.columnStreams.count
        let update = shape.operation == UInt32(STORAGE_UPDATE)
        let fresh = shape.operation == UInt32(STORAGE_INSERT)
        if !fresh {
            for column in 0..<count {
                let known = slots.value(slot, shape.columnIndices[column])
                if let known, view.same(view.values[known], values[column]) {
                    streams[shape.columnStreams[column]].appendKnown()
                } else {
                    streams[shape.columnStreams[column]].append(values[column], view)
                }
            }
        }
        if fresh { slots.clear(slot) }
        guard fresh || update else { return }
        let newValues = update ? values + count : values
        for column in 0..<count {
            if update {
                streams[shape.columnStreams[column]].append(newValues[column], view, old: values[column])
            } else {
                streams[shape.columnStreams[column]].append(newValues[column], view)
            }
            slots.set(slot, shape.columnIndices[column], value: newValues + column - view.values)
        }
    }

    private func localShape(_ view: EventView, _ shape: Int) -> Int {
        if localOfShape[shape] >= 0 { return Int(localOfShape[shape]) }
        let source = view.shapes[shape]
        let columns = (0..<Int(source.column_count)).map { source.columns[$0] }
        let content = ShapeContent(entity: source.entity, operation: source.operation, columns: columns)
        if let known = localOfContent[content] {
            localOfShape[shape] = Int32(known)
            return known
        }
        localOfContent[content] = localShapes.count
        let local = LocalShape(
            entity: source.entity, operation: source.operation, columns: columns,
            keyStreams: (0..<source.key_count).map { stream(entity: source.entity, part: $0) },
            columnStreams: columns.map { stream(column: $0) },
            columnIndices: columns.map { columnIndices.index(of: $0, in: source.entity) })
        localShapes.append(local)
        localOfShape[shape] = Int32(localShapes.count - 1)
        return localShapes.count - 1
    }

    private func stream(entity: UInt32, part: UInt32) -> Int {
        stream(identifier: StreamIdentifier.key(entity: entity, part: part))
    }

    private func stream(column: UInt32) -> Int { stream(identifier: StreamIdentifier.column(column)) }

    private func stream(identifier: UInt64) -> Int {
        if let known = streamOfColumn[identifier] { return known }
        if streamCount == streams.count { streams.append(ColumnStream()) }
        streams[streamCount].identifier = identifier
        streamOfColumn[identifier] = streamCount
        streamCount += 1
        return streamCount - 1
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
        section.append(varint: UInt64(localShapes.count))
        for shape in localShapes {
            section.append(varint: UInt64(shape.entity))
            section.append(varint: UInt64(shape.operation))
            section.append(varint: UInt64(shape.keyStreams.count))
            section.append(varint: UInt64(shape.columns.count))
            var previous: UInt32 = 0
            for column in shape.columns {
                section.append(varint: zigzag(Int64(column) - Int64(previous)))
                previous = column
            }
        }
        appendSection(section)
        cut()
        appendSection(shapeIndexes)
        cut()
        appendSection(links)
        output.append(varint: UInt64(extensions.count))
        extensions.withUnsafeBytes { output.append($0) }
        output.append(varint: UInt64(streamCount))
        cut()
        for index in 0..<streamCount {
            output.append(varint: streams[index].identifier)
            streams[index].appendHeads(to: &output)
            cut()
            streams[index].appendBodies(to: &output)
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
