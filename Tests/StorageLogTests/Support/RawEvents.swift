import CSQLite

@testable import StorageLog

/// Events in the form that capture leaves them in, made from ``LoggedEvent``s.
final class RawEvents {
    private var events: [storage_event] = []
    private var values: [storage_value] = []
    private var bytes: [UInt8] = [0]
    private var shapes: [storage_shape] = []
    private var shapeOfContent: [Content: Int] = [:]
    /// Memory of the shapes, given back at the end.
    private var columns: [UnsafeMutablePointer<UInt32>] = []

    private struct Content: Hashable {
        var entity: UInt32
        var operation: Int
        var columns: [UInt32]
    }

    init(_ events: [LoggedEvent]) {
        for event in events { append(event) }
    }

    deinit { for block in columns { block.deallocate() } }

    func withView<Result>(_ body: (EventView) throws -> Result) rethrows -> Result {
        try events.withUnsafeBufferPointer { events in
            try values.withUnsafeBufferPointer { values in
                try bytes.withUnsafeBufferPointer { bytes in
                    try shapes.withUnsafeBufferPointer { shapes in
                        // Sound: a test never makes a view of no events.
                        try body(
                            EventView(
                                events: events.baseAddress!, count: events.count, values: values.baseAddress!,
                                bytes: bytes.baseAddress!, shapes: shapes.baseAddress!, shapeCount: shapes.count))
                    }
                }
            }
        }
    }

    private func append(_ event: LoggedEvent) {
        events.append(
            storage_event(
                rowid: 0, previous: event.previous, bound_position: 0, shape: UInt32(shape(of: event)),
                first_value: UInt32(values.count)))
        for cell in event.key { append(cell) }
        if event.operation != STORAGE_INSERT { for column in event.columns { append(event.old[column] ?? .null) } }
        if event.operation != STORAGE_DELETE { for column in event.columns { append(event.new[column] ?? .null) } }
    }

    private func shape(of event: LoggedEvent) -> Int {
        let content = Content(entity: event.entity, operation: event.operation, columns: event.columns)
        if let known = shapeOfContent[content] { return known }
        let block = UnsafeMutablePointer<UInt32>.allocate(capacity: max(event.columns.count, 1))
        block.initialize(from: event.columns, count: event.columns.count)
        columns.append(block)
        shapes.append(
            storage_shape(
                entity: event.entity, operation: UInt32(event.operation), key_count: UInt32(event.key.count),
                column_count: UInt32(event.columns.count), columns: block))
        shapeOfContent[content] = shapes.count - 1
        return shapes.count - 1
    }

    private func append(_ cell: Cell) {
        func keep(_ type: Int32, _ content: [UInt8]) -> storage_value {
            defer { bytes.append(contentsOf: content) }
            return storage_value(type: UInt32(type), size: UInt32(content.count), bits: UInt64(bytes.count))
        }
        let value: storage_value =
            switch cell {
            case .null: storage_value(type: UInt32(SQLITE_NULL), size: 0, bits: 0)
            case .integer(let value):
                storage_value(type: UInt32(SQLITE_INTEGER), size: 0, bits: UInt64(bitPattern: value))
            case .real(let bits): storage_value(type: UInt32(SQLITE_FLOAT), size: 0, bits: bits)
            case .text(let content): keep(SQLITE_TEXT, content)
            case .blob(let content): keep(SQLITE_BLOB, content)
            }
        values.append(value)
    }
}
