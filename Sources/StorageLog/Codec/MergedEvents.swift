internal import CSQLite

/// The events of several rows as one run.
final class MergedEvents {
    private var events: [storage_event] = []
    private var values: [storage_value] = []
    private var bytes = ByteBuffer(capacity: 1 << 16)
    private var shapes: [storage_shape] = []
    /// Keeps the columns that the shapes point to.
    private let batches: [EventBatch]
    private(set) var commits: [(info: CommitInfo, events: Range<Int>)] = []

    init(_ batches: [EventBatch]) {
        self.batches = batches
        for batch in batches { append(batch) }
    }

    private func append(_ batch: EventBatch) {
        let view = batch.view
        let firstShape = UInt32(shapes.count)
        let start = events.count
        shapes.append(contentsOf: UnsafeBufferPointer(start: view.shapes, count: view.shapeCount))
        for index in 0..<view.count {
            var event = view.events[index]
            let key = view.key(of: index)
            event.shape += firstShape
            event.first_value = UInt32(values.count)
            events.append(event)
            for place in 0..<view.valueCount(of: index) {
                var value = key[place]
                if Int32(value.type) == SQLITE_TEXT || Int32(value.type) == SQLITE_BLOB {
                    let source = view.bytes + Int(value.bits)
                    value.bits = UInt64(bytes.count)
                    bytes.append(source, count: Int(value.size))
                }
                values.append(value)
            }
        }
        var first = start
        for slice in batch.slices {
            let range = first..<first + slice.eventCount
            first = range.upperBound
            if let last = commits.last, last.info.number == slice.info.number {
                commits[commits.count - 1].events = last.events.lowerBound..<range.upperBound
            } else {
                commits.append((slice.info, range))
            }
        }
        edge(batch)
    }

    /// Whether the run begins or ends in the middle of a commit.
    private(set) var continuesEarlier = false
    private(set) var continuesLater = false

    private func edge(_ batch: EventBatch) {
        if events.count == batch.count { continuesEarlier = batch.slices.first?.continuesEarlier ?? false }
        continuesLater = batch.slices.last?.continuesLater ?? false
    }

    func withView<Result>(_ body: (EventView) throws -> Result) rethrows -> Result {
        try events.withUnsafeBufferPointer { events in
            try values.withUnsafeBufferPointer { values in
                try shapes.withUnsafeBufferPointer { shapes in
                    try body(
                        EventView(
                            events: events.baseAddress!, count: events.count, values: values.baseAddress!,
                            bytes: UnsafePointer(bytes.base), shapes: shapes.baseAddress!, shapeCount: shapes.count))
                }
            }
        }
    }
}
