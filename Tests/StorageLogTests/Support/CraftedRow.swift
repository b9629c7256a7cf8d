import CSQLite
import CZstd
import StorageCore
import Testing

@testable import StorageLog

/// A row of the log that somebody has made by hand: one with one event, to be spoilt one part at a time.
struct CraftedRow {
    var header = SegmentHeader(
        first: 1, last: 1, firstCommit: 1, lastCommit: 1, firstTime: 5, lastTime: 5, entities: [40])
    /// One commit without flags: number of events, time, fields.
    var commits = bytes([1, 0, 1, 0, 0])
    /// One shape: entity, insert, one part of a key, no columns.
    var shapes = bytes([1, 40, STORAGE_INSERT, 1, 0])
    var indexes = bytes([0])
    var links = bytes([0])
    var extensions: [UInt8] = []
    /// One stream: its name, the lengths of heads and bodies, then the integer 1.
    var streams = bytes([1, Int(key), 1, 0, 2 << 3 | 1])
    /// What its frame is made of.
    var frame = Frame.usual

    enum Frame { case usual, withoutChecksum, withAnotherBehind }

    static let key = StreamIdentifier.key(entity: 40, part: 0)

    static func bytes(_ numbers: [Int]) -> [UInt8] {
        var buffer = ByteBuffer()
        for number in numbers { buffer.append(varint: UInt64(number)) }
        return [UInt8](buffer.bytes)
    }

    var body: [UInt8] {
        var output = ByteBuffer()
        header.append(to: &output)
        for section in [commits, shapes, indexes, links, extensions] {
            output.append(varint: UInt64(section.count))
            section.withUnsafeBytes { output.append($0) }
        }
        streams.withUnsafeBytes { output.append($0) }
        return [UInt8](output.bytes)
    }

    /// The frame of a body.
    func packed() throws -> (body: [UInt8], size: Int) {
        let plain = body
        switch frame {
        case .usual: return (try Self.packed(plain), plain.count)
        case .withoutChecksum: return (try Self.packed(plain, checksum: false), plain.count)
        // One that decoders skip, without content.
        case .withAnotherBehind: return (try Self.packed(plain) + [0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0], plain.count)
        }
    }

    static func packed(_ plain: [UInt8], checksum: Bool = true) throws -> [UInt8] {
        let context = ZSTD_createCCtx()
        defer { ZSTD_freeCCtx(context) }
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1)
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum ? 1 : 0)
        var packed = [UInt8](repeating: 0, count: ZSTD_compressBound(plain.count))
        let length = ZSTD_compress2(context, &packed, packed.count, plain, plain.count)
        try #require(ZSTD_isError(length) == 0)
        return Array(packed[..<length])
    }

    mutating func setEvents(_ count: Int) {
        header.last = Int64(count)
        indexes = Array(repeating: 0, count: count)
        links = Array(repeating: 0, count: count)
        commits = Self.bytes([1, 0, count, 0, 0])
    }

    /// Gives the event's shape column 41, with these heads and contents of its values.
    mutating func setColumn(_ operation: Int, heads: [UInt8], contents: [UInt8] = []) {
        shapes = Self.bytes([1, 40, operation, 1, 1, Int(zigzag(41))])
        streams = Self.bytes([2, Int(Self.key), 1, 0, 2 << 3 | 1, Int(StreamIdentifier.column(41))])
        streams += Self.bytes([heads.count, contents.count]) + heads + contents
    }

    /// The metadata of its commit.
    mutating func setMetadata(fields: UInt8, _ texts: [[UInt8]], count: Int? = nil) {
        commits = Self.bytes([1, 0, 1, 0]) + [fields] + (count.map { Self.bytes([$0]) } ?? [])
        for text in texts { commits += Self.bytes([text.count]) + text }
    }
}
