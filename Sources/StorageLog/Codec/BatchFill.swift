internal import CSQLite
internal import Foundation
internal import StorageCore

/// A stream of encoded values and where its reader stands.
struct DecodedStream {
    let identifier: UInt64
    var heads: ByteReader
    var bodies: ByteReader
    var lastInteger: Int64 = 0
    var lastWhole: Int64 = 0
}

/// Puts the values of a row's events together from its streams: the hot loop of reading.
struct BatchFill: ~Copyable {
    private let batch: EventBatch
    private let shapes: [DecodedShape]
    private let streams: UnsafeMutableBufferPointer<DecodedStream>
    private var known: KnownValues
    private var slots: [Int32] = []
    private var nextValue = 0
    /// Texts that were told as edits. The body, into which the streams point, stays where it is meanwhile; offsets
    /// from its end on mean this buffer.
    private var edits = ByteBuffer(capacity: 256)
    private let bodySize: Int
    private var damaged = false

    init(batch: EventBatch, shapes: [DecodedShape], streams list: [DecodedStream], known: KnownValues) {
        self.batch = batch
        self.shapes = shapes
        self.known = known
        bodySize = batch.header.size
        streams = .allocate(capacity: list.count)
        _ = streams.initialize(from: list)
        slots.reserveCapacity(batch.count)
    }

    deinit { streams.deallocate() }

    mutating func run(indexes: [Int], links: ByteReader) throws {
        var links = links
        let first = batch.header.first
        for index in indexes.indices {
            let distance = links.varint()
            let position = first + Int64(index)
            guard distance < UInt64(position) else {
                throw StorageError.corruptLog("event @\(position) points before the beginning")
            }
            batch.events[index] = storage_event(
                rowid: 0, previous: distance == 0 ? 0 : position - Int64(distance), bound_position: 0,
                shape: UInt32(indexes[index]), first_value: UInt32(nextValue))
            let linked = distance > 0 && distance <= UInt64(index) ? index - Int(distance) : -1
            fill(shape: indexes[index], linked: linked)
        }
        for stream in streams where stream.heads.failed || stream.bodies.failed { damaged = true }
        for stream in streams where stream.heads.remaining + stream.bodies.remaining > 0 { damaged = true }
        guard !damaged, !links.failed, links.remaining == 0 else {
            throw StorageError.corruptLog("the values of row @\(first) don't add up")
        }
        attachEdits()
    }

    @inline(__always)
    private mutating func fill(shape index: Int, linked: Int) {
        let slot = fillKey(index, linked: linked)
        slots.append(Int32(slot))
        let count = shapes[index].columnStreams.count
        let update = shapes[index].operation == UInt32(STORAGE_UPDATE)
        let insert = shapes[index].operation == UInt32(STORAGE_INSERT)
        let start = nextValue
        if !insert {
            for column in 0..<count {
                let stream = shapes[index].columnStreams[column]
                store(next(stream, known: known.value(slot, shapes[index].places[column]), old: -1))
            }
        }
        guard insert || update else { return }
        if insert { known.clear(slot) }
        for column in 0..<count {
            let value = next(shapes[index].columnStreams[column], known: nil, old: update ? start + column : -1)
            known.set(slot, shapes[index].places[column], value: nextValue)
            store(value)
        }
    }

    /// The key is told by the first event of a row in this run; later ones link to it.
    @inline(__always)
    private mutating func fillKey(_ index: Int, linked: Int) -> Int {
        let keyCount = shapes[index].keyCount
        if linked < 0 {
            for part in 0..<keyCount { store(next(shapes[index].keyStreams[part], known: nil, old: -1)) }
            return known.add(columns: known.columnCount(of: shapes[index].entity))
        }
        let earlier = batch.shapes[Int(batch.events[linked].shape)]
        if earlier.entity != shapes[index].entity || Int(earlier.key_count) != keyCount { damaged = true }
        let start = Int(batch.events[linked].first_value)
        for part in 0..<keyCount {
            store(damaged ? storage_value(type: UInt32(SQLITE_NULL), size: 0, bits: 0) : batch.values[start + part])
        }
        return Int(slots[linked])
    }

    @inline(__always)
    private mutating func store(_ value: storage_value) {
        batch.values[nextValue] = value
        nextValue += 1
    }

    @inline(__always)
    private mutating func next(_ index: Int, known: Int?, old: Int) -> storage_value {
        let stream = streams.baseAddress.unsafelyUnwrapped + index
        let head = stream.pointee.heads.varint()
        switch head & 7 {
        case ValueKind.integer:
            let value = stream.pointee.lastInteger &+ unzigzag(head >> 3)
            stream.pointee.lastInteger = value
            return storage_value(type: UInt32(SQLITE_INTEGER), size: 0, bits: UInt64(bitPattern: value))
        case ValueKind.text: return slice(stream, SQLITE_TEXT, size: head >> 3)
        case ValueKind.blob: return slice(stream, SQLITE_BLOB, size: head >> 3)
        case ValueKind.null:
            if head == ValueKind.known, let known { return batch.values[known] }
            if head != ValueKind.null { damaged = true }
            return storage_value(type: UInt32(SQLITE_NULL), size: 0, bits: 0)
        case ValueKind.real:
            return storage_value(type: UInt32(SQLITE_FLOAT), size: 0, bits: stream.pointee.bodies.fixed())
        case ValueKind.wholeReal:
            let value = stream.pointee.lastWhole &+ unzigzag(head >> 3)
            stream.pointee.lastWhole = value
            return storage_value(type: UInt32(SQLITE_FLOAT), size: 0, bits: Double(value).bitPattern)
        case ValueKind.wideInteger:
            let value = stream.pointee.heads.fixed()
            stream.pointee.lastInteger = Int64(bitPattern: value)
            return storage_value(type: UInt32(SQLITE_INTEGER), size: 0, bits: value)
        default: return edit(stream, prefix: head >> 3, old: old)
        }
    }

    @inline(__always)
    private func slice(_ stream: UnsafeMutablePointer<DecodedStream>, _ type: Int32, size: UInt64) -> storage_value {
        let start = stream.pointee.bodies.skip(size)
        let offset = start - UnsafePointer(batch.bytes)
        let whole = !stream.pointee.bodies.failed
        return storage_value(type: UInt32(type), size: whole ? UInt32(size) : 0, bits: UInt64(offset))
    }

    private mutating func edit(_ stream: UnsafeMutablePointer<DecodedStream>, prefix: UInt64, old: Int) -> storage_value
    {
        let suffix = stream.pointee.heads.varint()
        let middle = stream.pointee.heads.varint()
        let start = stream.pointee.bodies.skip(middle)
        let null = storage_value(type: UInt32(SQLITE_NULL), size: 0, bits: 0)
        guard old >= 0, !stream.pointee.bodies.failed else {
            damaged = true
            return null
        }
        let base = batch.values[old]
        let bytes = Int32(base.type) == SQLITE_TEXT || Int32(base.type) == SQLITE_BLOB
        // Each part is compared alone first, so that the sum can't overflow.
        guard bytes, prefix <= UInt64(base.size), suffix <= UInt64(base.size), prefix + suffix <= UInt64(base.size),
            edits.count <= Limits.segmentBytes
        else {
            damaged = true
            return null
        }
        let size = Int(prefix) + Int(middle) + Int(suffix)
        let target = edits.reserve(size)
        let source =
            Int(base.bits) < bodySize
            ? UnsafePointer(batch.bytes) + Int(base.bits)
            : UnsafePointer(edits.base) + (Int(base.bits) - bodySize)
        target.update(from: source, count: Int(prefix))
        (target + Int(prefix)).update(from: start, count: Int(middle))
        (target + Int(prefix + middle)).update(from: source + (Int(base.size) - Int(suffix)), count: Int(suffix))
        let offset = bodySize + edits.count
        edits.advance(size)
        return storage_value(type: base.type, size: UInt32(size), bits: UInt64(offset))
    }

    /// Moves the edited texts behind the body, where their offsets say they are.
    private func attachEdits() {
        guard edits.count > 0 else { return }
        batch.append(edits.bytes, behind: bodySize)
    }
}
