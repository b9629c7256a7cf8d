internal import CSQLite
internal import CZstd
internal import Foundation
internal import StorageCore

/// Decodes the bodies of segments into events. Damaged bytes cause an error, never a crash: every length is checked against the
/// remaining bytes, and the frame's checksum is verified before the events are decoded.
///
/// Not thread-safe: each reader owns one.
final class SegmentDecoder {
    private let context: OpaquePointer
    private var columnIndices = ColumnIndexMap()
    let pool = MemoryPool()

    init() {
        // Creation fails only when memory is exhausted, which Swift can't survive either.
        context = ZSTD_createDCtx()!
        ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 27)
    }

    deinit { ZSTD_freeDCtx(context) }

    /// Decodes a body whose uncompressed length is `size`.
    ///
    /// - Parameters:
    ///   - base: The body that this one is compressed against, if any.
    ///   - last: The position up to which events are wanted; all if nil.
    func decode(
        body: UnsafeRawBufferPointer, size: Int, base: SegmentBase? = nil, through last: Int64? = nil
    ) throws -> EventBatch {
        try parse(decompress(body, size: size, base: base), size: size, through: last)
    }

    /// Decodes the body of a segment, and checks that the segment's columns agree with it.
    func decode(
        body: UnsafeRawBufferPointer, of header: SegmentHeader, base: SegmentBase? = nil, through last: Int64? = nil
    ) throws -> EventBatch {
        let batch = try decode(body: body, size: header.size, base: base, through: last)
        guard batch.header == header else {
            throw StorageError.corruptLog("the columns of row @\(header.first) contradict its body")
        }
        return batch
    }

    private func decompress(_ body: UnsafeRawBufferPointer, size: Int, base: SegmentBase?) throws -> MemoryPool.Piece {
        try Self.check(body, size: size)
        let memory = pool.take(size)
        do {
            try decompress(body, into: UnsafeMutableRawBufferPointer(start: memory.start, count: size), base: base)
        } catch {
            pool.give(memory)
            throw error
        }
        return memory
    }

    /// Decompresses a body.
    func decompressed(_ body: [UInt8], size: Int, base: SegmentBase?) throws -> [UInt8] {
        try body.withUnsafeBytes { body in
            try Self.check(body, size: size)
            return try [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
                try decompress(body, into: UnsafeMutableRawBufferPointer(bytes), base: base)
                count = size
            }
        }
    }

    private static func check(_ body: UnsafeRawBufferPointer, size: Int) throws {
        guard size > 0, size <= Limits.segmentBytes else {
            throw StorageError.corruptLog("a row says that its body is \(size) bytes long")
        }
        guard ZSTD_getFrameContentSize(body.baseAddress, body.count) == UInt64(size) else {
            throw StorageError.corruptLog("a body isn't as long as its row says")
        }
        guard isOneFrame(body, size: size) else {
            throw StorageError.corruptLog("a body isn't one frame with a checksum")
        }
    }

    /// The zstd library accepts more than the format allows: several frames, a frame without a checksum, a frame with a
    /// dictionary (RFC 8878, 3.1.1.1).
    private static func isOneFrame(_ body: UnsafeRawBufferPointer, size: Int) -> Bool {
        guard ZSTD_findFrameCompressedSize(body.baseAddress, body.count) == body.count, body.count > 5 else {
            return false
        }
        let (descriptor, window) = (body[4], body[5])
        guard descriptor & 4 != 0, descriptor & 3 == 0 else { return false }
        let isSingleSegment = descriptor & 32 != 0
        let power = 1 << (10 + Int(window >> 3))
        return isSingleSegment || power + power / 8 * Int(window & 7) <= max(1 << 27, size)
    }

    private func decompress(
        _ body: UnsafeRawBufferPointer, into memory: UnsafeMutableRawBufferPointer, base: SegmentBase?
    ) throws {
        // A prefix applies to one frame, and must not move until that frame has been read.
        let written = Self.withBytes(of: base) { prefix in
            if let prefix { ZSTD_DCtx_refPrefix(context, prefix.baseAddress, prefix.count) }
            return ZSTD_decompressDCtx(context, memory.baseAddress, memory.count, body.baseAddress, body.count)
        }
        guard ZSTD_isError(written) == 0, written == memory.count else {
            let name = ZSTD_isError(written) == 0 ? "wrong length" : String(cString: ZSTD_getErrorName(written))
            throw StorageError.corruptLog("a body doesn't decompress (\(name))")
        }
    }

    static func withBytes<Result>(
        of base: SegmentBase?, _ body: (UnsafeRawBufferPointer?) throws -> Result
    ) rethrows -> Result {
        guard let base else { return try body(nil) }
        return try base.bytes.withUnsafeBytes { try body($0) }
    }

    /// Calls `take` with the bytes of a body in parts, whatever its size.
    func forEachPart(
        of body: UnsafeRawBufferPointer, size: Int64, base: SegmentBase?, _ take: (UnsafeRawBufferPointer) -> Void
    ) throws {
        try Self.check(body, size: Int(truncatingIfNeeded: size))
        ZSTD_DCtx_reset(context, ZSTD_reset_session_only)
        var input = ZSTD_inBuffer(src: body.baseAddress, size: body.count, pos: 0)
        try withUnsafeTemporaryAllocation(byteCount: 1 << 17, alignment: 16) { part in
            try Self.withBytes(of: base) { prefix in
                if let prefix { ZSTD_DCtx_refPrefix(context, prefix.baseAddress, prefix.count) }
                var code = 1
                while code != 0 {
                    var output = ZSTD_outBuffer(dst: part.baseAddress, size: part.count, pos: 0)
                    let before = input.pos
                    code = ZSTD_decompressStream(context, &output, &input)
                    guard ZSTD_isError(code) == 0, code == 0 || output.pos > 0 || input.pos > before else {
                        throw StorageError.corruptLog("a body doesn't decompress")
                    }
                    take(UnsafeRawBufferPointer(rebasing: part[..<output.pos]))
                }
            }
        }
    }

    private func parse(_ memory: MemoryPool.Piece, size: Int, through last: Int64?) throws -> EventBatch {
        // The batch returns the memory, even if the rest of it is malformed.
        var reader = ByteReader(memory.bound(to: UInt8.self), count: size)
        let header = SegmentHeader(from: &reader).with(size: size)
        let parts: Parts
        do {
            guard !reader.failed else { throw StorageError.corruptLog("the head of a row makes no sense") }
            _ = try header.checkedWithEntities()
            parts = try readParts(&reader, header: header)
        } catch {
            pool.give(memory)
            throw error
        }
        let wanted = last.map { Int(min(max($0, header.first), header.last) - header.first) + 1 } ?? header.count
        let valueCount = parts.indexes[..<wanted].reduce(0) { $0 + parts.shapes[$1].valueCount }
        let batch = EventBatch(
            header: header, filled: wanted, slices: parts.slices, extensions: parts.extensions, shapes: parts.shapes,
            valueCount: valueCount, bytes: memory, pool: pool)
        var fill = EventValueDecoder(batch: batch, shapes: parts.shapes, streams: parts.streams)
        try fill.run(indexes: parts.indexes, links: parts.links)
        return batch
    }
}

extension SegmentDecoder {
    /// The sections of a body, their lengths checked.
    private struct Parts {
        var slices: [CommitSlice]
        var shapes: [DecodedShape]
        var indexes: [Int]
        var links: ByteReader
        var extensions: [UInt8]
        var streams: [DecodedStream]
    }

    private func readParts(_ reader: inout ByteReader, header: SegmentHeader) throws -> Parts {
        var commitReader = reader.slice()
        let slices = try CommitCodec.read(&commitReader, of: header)
        guard !commitReader.failed, slices.reduce(0, { $0 + $1.eventCount }) == header.count else {
            throw StorageError.corruptLog("the commits of row @\(header.first) don't add up")
        }
        var shapeReader = reader.slice()
        var shapes = Self.readShapes(&shapeReader, atMost: header.count)
        let indexReader = reader.slice()
        let links = reader.slice()
        let extensions = try ExtensionBlock.read(reader.slice())
        let streams = readStreams(&reader, atMost: shapes.reduce(0) { $0 + $1.keyCount + $1.columns.count })
        guard !shapeReader.failed, !reader.failed, reader.remaining == 0, let extensions else {
            throw StorageError.corruptLog("the sections of row @\(header.first) don't add up")
        }
        try connect(&shapes, to: streams, first: header.first)
        let indexes = try Self.readShapeIndexes(
            indexReader, count: header.count, shapes: shapes.count, first: header.first)
        // Each value of a column takes a byte at least, so a small body can't ask for much memory.
        let columnValues = indexes.reduce(0) { $0 + shapes[$1].valueCount - shapes[$1].keyCount }
        guard columnValues <= header.size else {
            throw StorageError.corruptLog("row @\(header.first) claims more values than it can hold")
        }
        var isUsed = [Bool](repeating: false, count: shapes.count)
        for index in indexes { isUsed[index] = true }
        guard Set(shapes.indices.filter { isUsed[$0] }.map { shapes[$0].entity }).sorted() == header.entities else {
            throw StorageError.corruptLog("row @\(header.first) has events of other entities than it says")
        }
        return Parts(
            slices: slices, shapes: shapes, indexes: indexes, links: links, extensions: extensions, streams: streams)
    }
}

extension SegmentDecoder {
    /// - Parameter limit: The number of events.
    static func readShapes(_ reader: inout ByteReader, atMost limit: Int) -> [DecodedShape] {
        (0..<reader.count(bytesEach: 4, atMost: limit)).map { _ in
            let entity = reader.varint()
            if !StreamIdentifier.isEntity(entity) { reader.fail() }
            var shape = DecodedShape(
                entity: UInt32(truncatingIfNeeded: entity),
                operation: UInt32(reader.varint(atMost: STORAGE_DELETE)),
                // The shape has no bytes for the parts of the key.
                keyCount: reader.varint(atMost: Limits.keyColumns), columns: [])
            var column: Int64 = 0
            for _ in 0..<reader.count(bytesEach: 1, atMost: Limits.tableColumns) {
                column &+= unzigzag(reader.varint())
                if !StreamIdentifier.isColumn(UInt64(bitPattern: column)) { reader.fail() }
                shape.columns.append(UInt32(truncatingIfNeeded: column))
            }
            return shape
        }
    }

    /// - Parameter limit: The number of key parts and columns of all shapes.
    private func readStreams(_ reader: inout ByteReader, atMost limit: Int) -> [DecodedStream] {
        (0..<reader.count(bytesEach: 3, atMost: limit)).map { _ in
            let identifier = reader.varint()
            let heads = reader.varint()
            let bodies = reader.varint()
            let head = reader.skip(heads)
            let body = reader.skip(bodies)
            let whole = !reader.failed
            return DecodedStream(
                identifier: identifier, heads: ByteReader(head, count: whole ? Int(heads) : 0),
                bodies: ByteReader(body, count: whole ? Int(bodies) : 0))
        }
    }

    /// Finds each shape's streams, and numbers the columns of each entity as the encoder did.
    private func connect(_ shapes: inout [DecodedShape], to streams: [DecodedStream], first: Int64) throws {
        var indexOfStream: [UInt64: Int] = [:]
        for (index, stream) in streams.enumerated() { indexOfStream[stream.identifier] = index }
        // For each stream, the last shape that uses it, to detect a shape with a column twice.
        var lastShape = [Int](repeating: -1, count: streams.count)
        columnIndices.reset()
        for index in shapes.indices {
            let shape = shapes[index]
            let keys = (0..<shape.keyCount).map { StreamIdentifier.key(entity: shape.entity, part: UInt32($0)) }
            let keyStreams = keys.compactMap { indexOfStream[$0] }
            let columnStreams = shape.columns.compactMap { indexOfStream[StreamIdentifier.column($0)] }
            guard keyStreams.count == shape.keyCount, columnStreams.count == shape.columns.count, shape.keyCount > 0,
                (1...3).contains(shape.operation)
            else { throw StorageError.corruptLog("a column of row @\(first) has no values") }
            for stream in keyStreams + columnStreams {
                guard lastShape[stream] != index else {
                    throw StorageError.corruptLog("a shape of row @\(first) has a column twice")
                }
                lastShape[stream] = index
            }
            shapes[index].keyStreams = keyStreams
            shapes[index].columnStreams = columnStreams
            shapes[index].columnIndices = shape.columns.map { columnIndices.index(of: $0, in: shape.entity) }
        }
        guard indexOfStream.count == streams.count, !lastShape.contains(-1) else {
            throw StorageError.corruptLog("row @\(first) has other streams than its columns")
        }
        for index in shapes.indices { shapes[index].columnsOfEntity = columnIndices.count(of: shapes[index].entity) }
        // Each row of a run gets room for that many. Each column beyond those of one table is an event of the run.
        guard shapes.allSatisfy({ $0.columnsOfEntity <= Limits.tableColumns + Limits.segmentEvents }) else {
            throw StorageError.corruptLog("row @\(first) names more columns than its tables can have")
        }
    }

    static func readShapeIndexes(_ reader: ByteReader, count: Int, shapes: Int, first: Int64) throws -> [Int] {
        var reader = reader
        let indexes = (0..<count).map { _ in Int(truncatingIfNeeded: reader.varint()) }
        guard !reader.failed, reader.remaining == 0, indexes.allSatisfy({ $0 >= 0 && $0 < shapes }) else {
            throw StorageError.corruptLog("the events of row @\(first) have unknown shapes")
        }
        return indexes
    }
}
