internal import CSQLite
internal import Foundation
internal import StorageCore

/// A stream of encoded values and the reader's position in it.
struct DecodedStream {
    let identifier: UInt64
    var heads: ByteReader
    var bodies: ByteReader
    var lastInteger: Int64 = 0
    var lastWhole: Int64 = 0
}

/// Assembles the values of a segment's events from its streams: the hot loop of reading.
///
/// Everything that the loop reads for each event lies in plain memory of its own, so that it neither counts references nor
/// repeats earlier checks.
struct EventValueDecoder: ~Copyable {
    /// How to read an event of a shape.
    private struct Plan {
        let entity: UInt32
        let isInsert: Bool
        let isUpdate: Bool
        /// Index in `sources` of the key's first part; the columns follow the key.
        let firstSource: Int
        let keyCount: Int
        let columnCount: Int
        /// The number of the entity's columns that the run names.
        let width: Int
    }

    /// Where a value comes from.
    private struct Source {
        let stream: Int
        /// The index of its column among those of its entity.
        let columnIndex: Int
    }

    private let batch: EventBatch
    private let values: UnsafeMutablePointer<storage_value>
    private let body: UnsafePointer<UInt8>
    private let plans: UnsafeMutableBufferPointer<Plan>
    private let sources: UnsafeMutableBufferPointer<Source>
    private let streams: UnsafeMutableBufferPointer<DecodedStream>
    /// For each event, the index in `lastValues` of its row's first column.
    private let rows: UnsafeMutableBufferPointer<Int>
    /// The last value of each column of each row that the run contains, or -1.
    private var lastValues = GrowingBuffer<Int32>(capacity: 1_024)
    private var nextValue = 0
    /// Texts that were stored as edits. The body doesn't move meanwhile, because the streams point into it; offsets beyond its
    /// end refer to this buffer.
    private var edits = ByteBuffer(capacity: 256)
    private let bodySize: Int
    /// Bytes of the longest text or blob.
    private var longest = 0
    private var damaged = false

    init(batch: EventBatch, shapes: [DecodedShape], streams list: [DecodedStream]) {
        self.batch = batch
        values = batch.values
        body = UnsafePointer(batch.bytes)
        bodySize = batch.header.size
        streams = .allocate(capacity: list.count)
        _ = streams.initialize(from: list)
        rows = .allocate(capacity: batch.filled)
        sources = .allocate(capacity: shapes.reduce(0) { $0 + $1.keyCount + $1.columns.count })
        plans = .allocate(capacity: shapes.count)
        var next = 0
        for (index, shape) in shapes.enumerated() {
            let plan = Plan(
                entity: shape.entity, isInsert: shape.operation == UInt32(STORAGE_INSERT),
                isUpdate: shape.operation == UInt32(STORAGE_UPDATE), firstSource: next, keyCount: shape.keyCount,
                columnCount: shape.columns.count, width: shape.columnsOfEntity)
            plans.initializeElement(at: index, to: plan)
            let keys = shape.keyStreams.map { Source(stream: $0, columnIndex: 0) }
            let columns = zip(shape.columnStreams, shape.columnIndices).map { Source(stream: $0, columnIndex: $1) }
            for source in keys + columns {
                sources.initializeElement(at: next, to: source)
                next += 1
            }
        }
    }

    deinit {
        streams.deallocate()
        rows.deallocate()
        sources.deallocate()
        plans.deallocate()
    }

    mutating func run(indexes: [Int], links: ByteReader) throws {
        var links = links
        let first = batch.header.first
        for index in 0..<batch.filled {
            let distance = links.varint()
            let position = first + Int64(index)
            guard distance < UInt64(position) else {
                throw StorageError.corruptLog("event @\(position) points before the beginning")
            }
            batch.events[index] = storage_event(
                rowid: 0, previous: distance == 0 ? 0 : position - Int64(distance), bound_position: 0,
                shape: UInt32(indexes[index]), first_value: UInt32(nextValue))
            let linked = distance > 0 && distance <= UInt64(index) ? index - Int(distance) : -1
            fill(index, plans[indexes[index]], linked: linked)
        }
        for stream in streams where stream.heads.failed || stream.bodies.failed { damaged = true }
        if batch.filled == batch.count {
            for stream in streams where stream.heads.remaining + stream.bodies.remaining > 0 { damaged = true }
            if links.remaining > 0 { damaged = true }
        }
        guard !damaged, !links.failed else {
            throw StorageError.corruptLog("the values of row @\(first) don't add up")
        }
        try checkCommits()
        attachEdits()
    }

    /// Rejects commits larger than capture allows. Only very long values can add up to that much.
    private func checkCommits() throws {
        guard longest > Limits.commitBytes / Swift.max(nextValue, 1) else { return }
        for (info, events) in batch.commits {
            let events = events.clamped(to: 0..<batch.filled)
            guard batch.view.textBytes(of: events) <= Limits.commitBytes else {
                throw StorageError.corruptLog("the texts of commit \(info.number) are too large")
            }
        }
    }

    @inline(__always)
    private mutating func fill(_ event: Int, _ plan: Plan, linked: Int) {
        let row = fillKey(plan, linked: linked)
        rows[event] = row
        let columns = sources.baseAddress.unsafelyUnwrapped + (plan.firstSource + plan.keyCount)
        let old = nextValue
        if !plan.isInsert {
            for column in 0..<plan.columnCount {
                let source = columns[column]
                store(next(source.stream, known: lastValues.base[row + source.columnIndex], old: -1))
            }
        }
        guard plan.isInsert || plan.isUpdate else { return }
        if plan.isInsert { (lastValues.base + row).update(repeating: -1, count: plan.width) }
        for column in 0..<plan.columnCount {
            let source = columns[column]
            let value = next(source.stream, known: -1, old: plan.isUpdate ? old + column : -1)
            lastValues.base[row + source.columnIndex] = Int32(truncatingIfNeeded: nextValue)
            store(value)
        }
    }

    /// Reads the key. The first event of a row in this run has it; later ones link to that event.
    ///
    /// - Returns: The index in `lastValues` of the row's first column.
    @inline(__always)
    private mutating func fillKey(_ plan: Plan, linked: Int) -> Int {
        if linked >= 0 {
            let earlier = plans[Int(batch.events[linked].shape)]
            if earlier.entity == plan.entity, earlier.keyCount == plan.keyCount {
                let start = Int(batch.events[linked].first_value)
                for part in 0..<plan.keyCount { store(values[start + part]) }
                return rows[linked]
            }
            damaged = true
        }
        for part in 0..<plan.keyCount { store(next(sources[plan.firstSource + part].stream, known: -1, old: -1)) }
        let row = lastValues.count
        lastValues.reserve(plan.width).update(repeating: -1, count: plan.width)
        lastValues.advance(plan.width)
        return row
    }

    @inline(__always)
    private mutating func store(_ value: storage_value) {
        values[nextValue] = value
        nextValue += 1
    }

    @inline(__always)
    private mutating func next(_ index: Int, known: Int32, old: Int) -> storage_value {
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
            if head == ValueKind.known, known >= 0 { return values[Int(known)] }
            if head != ValueKind.null { damaged = true }
            return storage_value(type: UInt32(SQLITE_NULL), size: 0, bits: 0)
        case ValueKind.real:
            if head != ValueKind.real { damaged = true }
            return storage_value(type: UInt32(SQLITE_FLOAT), size: 0, bits: stream.pointee.bodies.fixed())
        case ValueKind.wholeReal:
            let value = stream.pointee.lastWhole &+ unzigzag(head >> 3)
            stream.pointee.lastWhole = value
            // Beyond 2⁵³ not every whole number is a real.
            if value.magnitude >= 1 << 53 { damaged = true }
            return storage_value(type: UInt32(SQLITE_FLOAT), size: 0, bits: Double(value).bitPattern)
        case ValueKind.wideInteger:
            if head != ValueKind.wideInteger { damaged = true }
            let value = stream.pointee.heads.fixed()
            stream.pointee.lastInteger = Int64(bitPattern: value)
            return storage_value(type: UInt32(SQLITE_INTEGER), size: 0, bits: value)
        default: return edit(stream, prefix: head >> 3, old: old)
        }
    }

    @inline(__always)
    private mutating func slice(
        _ stream: UnsafeMutablePointer<DecodedStream>, _ type: Int32, size: UInt64
    ) -> storage_value {
        let start = stream.pointee.bodies.skip(size)
        let offset = start - body
        let whole = !stream.pointee.bodies.failed && size <= UInt64(Limits.valueBytes)
        if whole { longest = Swift.max(longest, Int(size)) } else { damaged = true }
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
        let base = values[old]
        let bytes = base.hasBytes
        // Each part is compared alone first, so that the sum can't overflow.
        guard bytes, prefix <= UInt64(base.size), suffix <= UInt64(base.size), prefix + suffix <= UInt64(base.size)
        else {
            damaged = true
            return null
        }
        let size = Int(prefix) + Int(middle) + Int(suffix)
        guard size <= Limits.valueBytes, edits.count + size <= Limits.commitBytes else {
            damaged = true
            return null
        }
        longest = Swift.max(longest, size)
        let target = edits.reserve(size)
        let source =
            Int(base.bits) < bodySize
            ? body + Int(base.bits)
            : UnsafePointer(edits.base) + (Int(base.bits) - bodySize)
        target.update(from: source, count: Int(prefix))
        (target + Int(prefix)).update(from: start, count: Int(middle))
        (target + Int(prefix + middle)).update(from: source + (Int(base.size) - Int(suffix)), count: Int(suffix))
        let offset = bodySize + edits.count
        edits.advance(size)
        return storage_value(type: base.type, size: UInt32(size), bits: UInt64(offset))
    }

    /// Appends the edited texts to the body, where their offsets refer to.
    private func attachEdits() {
        guard edits.count > 0 else { return }
        batch.append(edits.bytes, behind: bodySize)
    }
}
