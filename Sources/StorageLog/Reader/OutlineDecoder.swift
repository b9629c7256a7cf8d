internal import CSQLite
internal import CZstd
internal import Foundation
internal import StorageCore

/// Decodes the beginnings of segments' bodies, decompressing nothing else.
///
/// Not thread-safe: each reader owns one.
final class OutlineDecoder {
    private let context: OpaquePointer
    private var bytes: UnsafeMutablePointer<UInt8>
    private var capacity = 1 << 16

    init() {
        // Creation fails only when memory is exhausted, which Swift can't survive either.
        context = ZSTD_createDCtx()!
        ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 27)
        bytes = .allocate(capacity: capacity)
    }

    deinit {
        ZSTD_freeDCtx(context)
        bytes.deallocate()
    }

    /// Decompresses as much of a body as `parse` needs, which returns nil to get more.
    private func read<Result>(
        _ body: UnsafeRawBufferPointer, size: Int, base: SegmentBase?, _ parse: (ByteReader) throws -> Result?
    ) throws -> Result {
        try SegmentDecoder.withBytes(of: base) { try read(body, size: size, prefix: $0, parse) }
    }

    private func read<Result>(
        _ body: UnsafeRawBufferPointer, size: Int, prefix: UnsafeRawBufferPointer?,
        _ parse: (ByteReader) throws -> Result?
    ) throws -> Result {
        guard size > 0, size <= Limits.segmentBytes else {
            throw StorageError.corruptLog("a row says that its body is \(size) bytes long")
        }
        ZSTD_DCtx_reset(context, ZSTD_reset_session_only)
        ZSTD_DCtx_refPrefix(context, prefix?.baseAddress, prefix?.count ?? 0)
        var input = ZSTD_inBuffer(src: body.baseAddress, size: body.count, pos: 0)
        var output = ZSTD_outBuffer(dst: bytes, size: 0, pos: 0)
        var wanted = 4_096
        while true {
            output.size = min(wanted, size)
            // Room for the bytes that were read, not for the number that the segment claims.
            makeRoom(output.size, keeping: output.pos)
            output.dst = UnsafeMutableRawPointer(bytes)
            while output.pos < output.size {
                let before = (input.pos, output.pos)
                let code = ZSTD_decompressStream(context, &output, &input)
                guard ZSTD_isError(code) == 0, before != (input.pos, output.pos) else {
                    throw StorageError.corruptLog("a body doesn't decompress")
                }
            }
            if let result = try parse(ByteReader(bytes, count: output.pos)) { return result }
            guard output.pos < size else { throw StorageError.corruptLog("the sections of a row don't add up") }
            wanted = output.pos * 2
        }
    }

    private func makeRoom(_ size: Int, keeping count: Int) {
        guard size > capacity else { return }
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
        larger.update(from: bytes, count: count)
        bytes.deallocate()
        (bytes, capacity) = (larger, size)
    }

    /// Everything before the values.
    func outline(
        of body: UnsafeRawBufferPointer, _ row: SegmentHeader, base: SegmentBase? = nil
    ) throws -> SegmentOutline {
        try read(body, size: row.size, base: base) { reader in
            var reader = reader
            let header = SegmentHeader(from: &reader).with(size: row.size)
            var (commits, shapes) = (reader.slice(), reader.slice())
            let (indexes, links, extensions) = (reader.slice(), reader.slice(), reader.slice())
            guard !reader.failed else { return nil }
            guard header == row, header.count <= Limits.segmentEvents else {
                throw StorageError.corruptLog("the columns of row @\(row.first) contradict its body")
            }
            let slices = try CommitCodec.read(&commits, of: header)
            let decoded = SegmentDecoder.readShapes(&shapes, atMost: header.count)
            guard !commits.failed, slices.reduce(0, { $0 + $1.eventCount }) == header.count, !shapes.failed,
                try ExtensionBlock.read(extensions) != nil
            else {
                throw StorageError.corruptLog("the commits of row @\(header.first) don't add up")
            }
            return SegmentOutline(
                header: header, slices: slices, shapes: decoded.map(Self.shape),
                shapeOfEvent: try SegmentDecoder.readShapeIndexes(
                    indexes, count: header.count, shapes: decoded.count, first: header.first),
                previous: try Self.previous(links, header))
        }
    }

    private static func shape(_ shape: DecodedShape) -> SegmentOutline.Shape {
        SegmentOutline.Shape(
            entity: shape.entity, operation: StorageEvent.Operation(code: shape.operation), columns: shape.columns)
    }

    private static func previous(_ links: ByteReader, _ header: SegmentHeader) throws -> [Int64] {
        var links = links
        let previous = try (0..<header.count).map { index in
            let (distance, position) = (links.varint(), header.first + Int64(index))
            guard distance < UInt64(position) else {
                throw StorageError.corruptLog("event @\(position) points before the beginning")
            }
            return distance == 0 ? 0 : position - Int64(distance)
        }
        guard !links.failed, links.remaining == 0 else {
            throw StorageError.corruptLog("the links of row @\(header.first) don't add up")
        }
        return previous
    }
}

// MARK: Keys

extension OutlineDecoder {
    /// The least first key part among an entity's rows that events at `positions` changed.
    func leastKey(
        of entity: UInt32, at positions: ClosedRange<Int64>, in body: UnsafeRawBufferPointer, _ row: SegmentHeader,
        base: SegmentBase? = nil
    ) throws -> LeastKey {
        let isWhole = positions.contains(row.first) && positions.contains(row.last)
        let wanted = isWhole ? nil : try outline(of: body, row, base: base).keys(of: entity, at: positions)
        return try read(body, size: row.size, base: base) { reader in
            var reader = reader
            _ = SegmentHeader(from: &reader)
            for _ in 0..<5 { _ = reader.slice() }
            for _ in 0..<reader.varint() {
                let identifier = reader.varint()
                let (headCount, bodyCount) = (reader.varint(), reader.varint())
                let (heads, bodies) = (reader.skip(headCount), reader.skip(bodyCount))
                guard !reader.failed else { return nil }
                guard identifier == StreamIdentifier.key(entity: entity, part: 0) else { continue }
                var least = LeastKey()
                least.add(
                    heads: ByteReader(heads, count: Int(headCount)), bodies: ByteReader(bodies, count: Int(bodyCount)),
                    wanted: wanted)
                return least
            }
            // The segment's columns name the entity, but its body has no key of it.
            return reader.failed ? nil : LeastKey(isPlain: false)
        }
    }
}

/// The least value of a stream, in SQLite's order. Valid while the bytes that it was read from are.
struct LeastKey {
    /// Whether there are neither NULLs nor reals among the values, whose order isn't certain.
    private(set) var isPlain = true
    private var integer: Int64?
    private var text: UnsafeBufferPointer<UInt8>?
    private var blob: UnsafeBufferPointer<UInt8>?

    fileprivate init(isPlain: Bool = true) { self.isPlain = isPlain }

    /// Numbers come before texts, and texts before blobs.
    var value: ExactValue? {
        guard isPlain else { return nil }
        return integer.map(ExactValue.integer) ?? text.map { .text(Array($0)) } ?? blob.map { .blob(Array($0)) }
    }

    /// - Parameter wanted: Which of the values to include; all if nil.
    fileprivate mutating func add(heads: ByteReader, bodies: ByteReader, wanted: [Bool]?) {
        var (heads, bodies) = (heads, bodies)
        var last: Int64 = 0
        var offset = 0
        while heads.remaining > 0, isPlain {
            let head = heads.varint()
            let counts = wanted.map { offset < $0.count && $0[offset] } ?? true
            offset += 1
            switch head & 7 {
            case ValueKind.integer, ValueKind.wideInteger:
                last =
                    head & 7 == ValueKind.integer
                    ? last &+ unzigzag(head >> 3) : Int64(bitPattern: heads.fixed())
                if counts { integer = min(integer ?? last, last) }
            case ValueKind.text: text = take(head >> 3, from: &bodies, under: text, counts: counts)
            case ValueKind.blob: blob = take(head >> 3, from: &bodies, under: blob, counts: counts)
            default: isPlain = false
            }
            if heads.failed { isPlain = false }
        }
    }

    private mutating func take(
        _ size: UInt64, from bodies: inout ByteReader, under least: UnsafeBufferPointer<UInt8>?, counts: Bool
    ) -> UnsafeBufferPointer<UInt8>? {
        let start = bodies.skip(size)
        guard !bodies.failed else {
            isPlain = false
            return least
        }
        guard counts else { return least }
        let value = UnsafeBufferPointer(start: start, count: Int(size))
        guard let least, let known = least.baseAddress else { return value }
        let order = memcmp(start, known, min(value.count, least.count))
        return order < 0 || (order == 0 && value.count < least.count) ? value : least
    }
}
