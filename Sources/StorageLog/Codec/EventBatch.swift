internal import CSQLite
internal import Foundation
internal import StorageCore

/// The decoded events of one segment, or of several segments merged into one.
///
/// ```swift
/// try await storage.log.forEachBatch { batch in
///     print(batch.positions, batch.count)
///     return batch.positions.upperBound < 10_000
/// }
/// ```
///
/// Sound as `@unchecked Sendable`: the decoder fills the memory before other code sees the batch, and nothing writes
/// to it afterwards.
public final class EventBatch: @unchecked Sendable {
    package let header: SegmentHeader
    /// The number of decoded events: all, or those up to the requested position. The header and the commits always describe all
    /// events.
    let filled: Int
    let slices: [CommitSlice]
    /// Parts of the segment that a newer version has written, in their stored form.
    let extensions: [UInt8]

    let events: UnsafeMutablePointer<storage_event>
    let values: UnsafeMutablePointer<storage_value>
    let shapes: UnsafeMutablePointer<storage_shape>
    let shapeCount: Int
    private let columns: UnsafeMutablePointer<UInt32>
    private let pool: MemoryPool
    private let eventMemory: MemoryPool.Piece
    private let valueMemory: MemoryPool.Piece
    private var byteMemory: MemoryPool.Piece

    /// - Parameters:
    ///   - bytes: Memory of the pool, returned to it with the batch.
    init(
        header: SegmentHeader, filled: Int, slices: [CommitSlice], extensions: [UInt8], shapes list: [DecodedShape],
        valueCount: Int, bytes: MemoryPool.Piece, pool: MemoryPool
    ) {
        self.header = header
        self.filled = filled
        self.slices = slices
        self.extensions = extensions
        self.pool = pool
        byteMemory = bytes
        eventMemory = pool.take(filled * MemoryLayout<storage_event>.stride)
        valueMemory = pool.take(valueCount * MemoryLayout<storage_value>.stride)
        events = eventMemory.bound(to: storage_event.self)
        values = valueMemory.bound(to: storage_value.self)
        shapes = .allocate(capacity: max(list.count, 1))
        shapeCount = list.count
        columns = .allocate(capacity: max(list.reduce(0) { $0 + $1.columns.count }, 1))
        var next = columns
        for (index, shape) in list.enumerated() {
            shapes[index] = storage_shape(
                entity: shape.entity, operation: shape.operation, key_count: UInt32(shape.keyCount),
                column_count: UInt32(shape.columns.count), columns: next)
            for column in shape.columns {
                next.pointee = column
                next += 1
            }
        }
    }

    deinit {
        pool.give(eventMemory)
        pool.give(valueMemory)
        pool.give(byteMemory)
        shapes.deallocate()
        columns.deallocate()
    }

    /// The bytes of the decoded texts and blobs.
    var textBytes: Int { withView { $0.textBytes(of: 0..<$0.count) } }

    /// The bytes of the texts and blobs of some events.
    package func textBytes(of events: Range<Int>) -> Int { withView { $0.textBytes(of: events) } }

    /// Texts and blobs.
    var bytes: UnsafeMutablePointer<UInt8> { byteMemory.bound(to: UInt8.self) }

    /// Calls `body` with the uncompressed body of the segment.
    func withBody<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        // The bytes appended for edits follow it.
        try withExtendedLifetime(self) { try body(UnsafeRawBufferPointer(start: bytes, count: header.size)) }
    }

    /// Appends bytes after the first `count`; only while the batch is being filled.
    func append(_ more: UnsafeRawBufferPointer, behind count: Int) {
        let size = count + more.count
        if size > byteMemory.capacity {
            let larger = pool.take(size)
            larger.start.copyMemory(from: byteMemory.start, byteCount: count)
            pool.give(byteMemory)
            byteMemory = larger
        }
        guard let start = more.baseAddress else { return }
        (byteMemory.start + count).copyMemory(from: start, byteCount: more.count)
    }

    /// The number of events.
    public var count: Int { header.count }
    /// The positions of the events, in order.
    public var positions: ClosedRange<Int64> { header.first...header.last }

    /// The commits with events in this batch, in order, each with the indexes of its events.
    package var commits: [(info: CommitInfo, events: Range<Int>)] {
        var start = 0
        return slices.map { slice in
            defer { start += slice.eventCount }
            return (slice.info, start..<start + slice.eventCount)
        }
    }

    /// Whether the first commit has events in the previous segment, or the last one in the next segment.
    package var beginsInsideCommit: Bool { slices.first?.continuesEarlier ?? false }
    package var endsInsideCommit: Bool { slices.last?.continuesLater ?? false }

    /// The events, valid while the batch is alive: use inside `withExtendedLifetime` or through ``withView(_:)``.
    var view: EventView {
        EventView(
            events: events, count: filled, values: values, bytes: bytes, shapes: shapes, shapeCount: shapeCount)
    }

    package func withView<Result>(_ body: (EventView) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) { try body(view) }
    }

    /// The commit of the event at an index.
    package func commit(ofEvent index: Int) -> CommitInfo { slices.commit(ofEvent: index) }
}

/// A shape as the decoder reads it.
struct DecodedShape {
    var entity: UInt32
    var operation: UInt32
    var keyCount: Int
    var columns: [UInt32]
    var keyStreams: [Int] = []
    var columnStreams: [Int] = []
    /// The index of each column among those of its entity that the run names, and the number of those columns.
    var columnIndices: [Int] = []
    var columnsOfEntity = 0

    init(entity: UInt32, operation: UInt32, keyCount: Int, columns: [UInt32]) {
        self.entity = entity
        self.operation = operation
        self.keyCount = keyCount
        self.columns = columns
    }

    /// A copy of a shape, columns and all.
    init(_ shape: storage_shape) {
        self.init(
            entity: shape.entity, operation: shape.operation, keyCount: Int(shape.key_count),
            columns: Array(UnsafeBufferPointer(start: shape.columns, count: Int(shape.column_count))))
    }

    var valueCount: Int {
        keyCount + columns.count * (operation == UInt32(STORAGE_UPDATE) ? 2 : 1)
    }
}
