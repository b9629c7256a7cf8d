internal import CSQLite

/// The events of several rows as one run.
final class MergedEvents {
    private var events: [storage_event] = []
    private var values: [storage_value] = []
    private var bytes = ByteBuffer(capacity: 1 << 16)
    private var shapes: [storage_shape] = []
    /// Keeps the columns that the shapes point to.
    private let batches: [EventBatch]
    /// The commits, with how many of the events each has.
    private(set) var slices: [CommitSlice] = []

    init(_ batches: [EventBatch]) {
        self.batches = batches
        for batch in batches { append(batch) }
    }

    private func append(_ batch: EventBatch) {
        let view = batch.view
        let firstShape = UInt32(shapes.count)
        shapes.append(contentsOf: UnsafeBufferPointer(start: view.shapes, count: view.shapeCount))
        for index in 0..<view.count {
            var event = view.events[index]
            let key = view.key(of: index)
            event.shape += firstShape
            event.first_value = UInt32(values.count)
            events.append(event)
            for offset in 0..<view.valueCount(of: index) {
                var value = key[offset]
                if value.hasBytes {
                    let source = view.bytes + Int(value.bits)
                    value.bits = UInt64(bytes.count)
                    bytes.append(source, count: Int(value.size))
                }
                values.append(value)
            }
        }
        for slice in batch.slices {
            if let last = slices.last, last.info.number == slice.info.number {
                slices[slices.count - 1].eventCount += slice.eventCount
                slices[slices.count - 1].continuesLater = slice.continuesLater
            } else {
                slices.append(slice)
            }
        }
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
