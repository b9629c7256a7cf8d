import CSQLite
import StorageCore

@testable import StorageLog
@testable import StorageRouting

/// An entity that no store has: id, name, age, tenant, status.
struct People {
    static let names = ["id", "name", "age", "tenant", "status"]
    let layout: RowLayout

    init() {
        let types = ["INTEGER", "TEXT", "INTEGER", "INTEGER", "TEXT"]
        let columns = Self.names.indices.map {
            CatalogColumn(id: 11 + UInt32($0), name: Self.names[$0], type: types[$0], keyOrdinal: $0 == 0 ? 1 : 0)
        }
        let entity = CatalogEntity(id: 10, name: "people", stored: "people", columns: columns)
        layout = RowLayout(
            entity,
            columns: columns.map {
                RowLayout.Column(
                    id: $0.id, name: $0.name, stored: $0.stored, affinity: ColumnAffinity(declaredType: $0.type),
                    collation: .binary)
            })
    }
}

/// Events of ``People`` as capture would leave them.
final class RoutedEvents {
    private var events: [storage_event] = []
    private var values: [storage_value] = []
    private var bytes: [UInt8] = [0]
    private var shapes: [storage_shape] = []
    private var blocks: [UnsafeMutablePointer<UInt32>] = []

    deinit { for block in blocks { block.deallocate() } }

    func insert(_ row: [StorageValue]) {
        append(STORAGE_INSERT, Array(People.names.indices.dropFirst()), row[0], Array(row.dropFirst()))
    }

    func delete(_ row: [StorageValue]) {
        append(STORAGE_DELETE, Array(People.names.indices.dropFirst()), row[0], Array(row.dropFirst()))
    }

    /// - Parameter changes: Old and new values by the columns' places.
    func update(_ key: StorageValue, _ changes: [(place: Int, old: StorageValue, new: StorageValue)]) {
        append(STORAGE_UPDATE, changes.map(\.place), key, changes.map(\.old) + changes.map(\.new))
    }

    private func append(_ operation: Int, _ places: [Int], _ key: StorageValue, _ row: [StorageValue]) {
        let block = UnsafeMutablePointer<UInt32>.allocate(capacity: places.count)
        block.initialize(from: places.map { 11 + UInt32($0) }, count: places.count)
        blocks.append(block)
        shapes.append(
            storage_shape(
                entity: 10, operation: UInt32(operation), key_count: 1, column_count: UInt32(places.count),
                columns: block))
        events.append(
            storage_event(
                rowid: 0, previous: 0, bound_position: 0, shape: UInt32(shapes.count - 1),
                first_value: UInt32(values.count)))
        for value in [key] + row { values.append(raw(value)) }
    }

    private func raw(_ value: StorageValue) -> storage_value {
        func keep(_ type: Int32, _ content: [UInt8]) -> storage_value {
            defer { bytes += content }
            return storage_value(type: UInt32(type), size: UInt32(content.count), bits: UInt64(bytes.count))
        }
        switch value {
        case .null: return storage_value(type: UInt32(SQLITE_NULL), size: 0, bits: 0)
        case .integer(let value):
            return storage_value(type: UInt32(SQLITE_INTEGER), size: 0, bits: UInt64(bitPattern: value))
        case .real(let value): return storage_value(type: UInt32(SQLITE_FLOAT), size: 0, bits: value.bitPattern)
        case .text(let value): return keep(SQLITE_TEXT, Array(value.utf8))
        case .blob(let value): return keep(SQLITE_BLOB, Array(value))
        }
    }

    /// The pointers stay good while this object is alive and gets no more events.
    func withView(_ body: (EventView) -> Void) {
        events.withUnsafeBufferPointer { events in
            values.withUnsafeBufferPointer { values in
                bytes.withUnsafeBufferPointer { bytes in
                    shapes.withUnsafeBufferPointer { shapes in
                        // Sound: a test never makes a view of no events.
                        body(
                            EventView(
                                events: events.baseAddress!, count: events.count, values: values.baseAddress!,
                                bytes: bytes.baseAddress!, shapes: shapes.baseAddress!, shapeCount: shapes.count))
                    }
                }
            }
        }
    }
}
