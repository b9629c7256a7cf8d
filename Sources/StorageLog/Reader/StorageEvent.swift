package import CSQLite
public import StorageCore

/// One change of one row, as recorded.
///
/// ```swift
/// for try await event in storage.log.events(LogQuery(tables: ["users"])) where event.operation == .update {
///     print(event.position, event.key["id"] ?? .null, event.old?["email"] ?? .null, event.new?["email"] ?? .null)
/// }
/// ```
public struct StorageEvent: Sendable, Hashable {
    /// What an event did to its row.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// The row was inserted, updated or deleted.
        case insert, update, delete
    }

    /// A column and its value.
    public struct Field: Sendable, Hashable {
        /// The name of the column.
        public let column: String
        /// The value of the column.
        public let value: StorageValue
        /// How to interpret the value beyond its storage class: the column's declared type and coding.
        package let type: String
        package let coding: String

        package init(column: String, value: StorageValue, type: String = "", coding: String = "") {
            self.column = column
            self.value = value
            self.type = type
            self.coding = coding
        }
    }

    /// The event's position in the log: 1, 2, 3 … without gaps, over the whole store.
    public let position: Int64
    /// The event's commit.
    public let commit: CommitInfo
    /// What the event did to the row.
    public let operation: Operation
    /// The entity's current name.
    public let table: String
    /// The row's primary key.
    public let key: [Field]
    /// For a delete, the row; for an update, the earlier values of the changed columns; nil for an insert.
    public let old: [Field]?
    /// For an insert, the row; for an update, the later values of the changed columns; nil for a delete.
    public let new: [Field]?
    /// Position of the row's previous event; 0 for its first.
    public let previous: Int64

    package init(
        position: Int64, commit: CommitInfo, operation: Operation, table: String, key: [Field], old: [Field]?,
        new: [Field]?, previous: Int64
    ) {
        self.position = position
        self.commit = commit
        self.operation = operation
        self.table = table
        self.key = key
        self.old = old
        self.new = new
        self.previous = previous
    }

    /// Whether the event changed the schema rather than a user's row.
    public var isSchemaChange: Bool { table == CatalogEntity.catalog.name }
}

extension StorageEvent.Operation {
    /// The operation of events of a shape.
    package init(_ shape: storage_shape) { self.init(code: shape.operation) }

    /// - Parameter code: `STORAGE_INSERT`, `STORAGE_UPDATE` or `STORAGE_DELETE`.
    init(code: UInt32) {
        switch Int(code) {
        case STORAGE_INSERT: self = .insert
        case STORAGE_DELETE: self = .delete
        default: self = .update
        }
    }
}

extension EventBatch {
    /// The event at an index, with its names and values.
    package func event(at index: Int, catalog: Catalog, commit: CommitInfo? = nil) -> StorageEvent {
        withView { view in
            let raw = view.events[index]
            let shape = view.shape(of: index)
            let entity = catalog.entity(id: shape.entity)
            let key = view.key(of: index)
            let values = view.columns(of: index)
            let count = Int(shape.column_count)
            let columns = (0..<count).map { shape.columns[$0] }
            let keyColumns = entity?.key ?? []
            let keyFields = (0..<Int(shape.key_count)).map { part in
                StorageEvent.Field(
                    view.value(key[part]), of: part < keyColumns.count ? keyColumns[part] : nil,
                    orNamed: "key \(part + 1)")
            }
            func fields(_ start: UnsafePointer<storage_value>) -> [StorageEvent.Field] {
                columns.enumerated().map { offset, id in
                    StorageEvent.Field(
                        view.value(start[offset]), of: entity?.columns.first { $0.id == id }, orNamed: "column \(id)")
                }
            }
            let operation = StorageEvent.Operation(shape)
            return StorageEvent(
                position: header.first + Int64(index), commit: commit ?? self.commit(ofEvent: index),
                operation: operation, table: entity?.name ?? "entity \(shape.entity)", key: keyFields,
                old: operation == .insert ? nil : fields(values),
                new: operation == .delete ? nil : fields(operation == .update ? values + count : values),
                previous: raw.previous)
        }
    }
}

extension StorageEvent.Field {
    /// A column's value.
    package init(_ value: StorageValue, of column: CatalogColumn) {
        self.init(column: column.name, value: value, type: column.type, coding: column.coding)
    }

    /// A column's value, with another name if the catalog doesn't know the column.
    package init(_ value: StorageValue, of column: CatalogColumn?, orNamed name: @autoclosure () -> String) {
        if let column { self.init(value, of: column) } else { self.init(column: name(), value: value) }
    }
}
