public import StorageCore

/// The change of a row since a ``SmartChangeNotifier`` last reported it.
///
/// ```swift
/// for await event in try await storage.changeNotifier.events(for: User.self) {
///     switch event {
///     case .inserted(_, let id, let row, _): print("new", id, row["name"] ?? .null)
///     case .updated(_, let id, let changes, _): print("changed", id, changes.keys)
///     case .deleted(_, let id, _, _): print("deleted", id)
///     case .bulkChange(_, let count, _): print("many rows", count ?? 0)
///     case .schemaChange: print("schema")
///     }
/// }
/// ```
///
/// An event is the difference between two states of the store, however many commits lie between them: a row that was
/// inserted and changed meanwhile is reported as inserted, one that was inserted and deleted again isn't reported.
/// Values are those of the columns, as the database stores them: `try UUID(storageValue: id)` converts one to its Swift
/// type.
public enum ChangeEvent: Sendable, Hashable {
    /// The row was inserted; `newData` holds the values of all its columns.
    case inserted(tableName: String, id: StorageValue, newData: [String: StorageValue], position: Int64)
    /// The values of the columns in `changes` have changed.
    case updated(tableName: String, id: StorageValue, changes: [String: FieldChange], position: Int64)
    /// The row was deleted; `oldData` holds the values that it had.
    case deleted(tableName: String, id: StorageValue, oldData: [String: StorageValue], position: Int64)
    /// Too many changes to report row by row. Refetch the table's rows.
    ///
    /// `affectedCount` is the number of row changes that it represents; nil if unknown.
    case bulkChange(tableName: String, affectedCount: Int?, position: Int64)
    /// The columns of the table have changed, and possibly its rows. Refetch its rows.
    case schemaChange(tableName: String, position: Int64)

    /// The entity's name.
    public var tableName: String {
        switch self {
        case .inserted(let name, _, _, _), .updated(let name, _, _, _), .deleted(let name, _, _, _),
            .bulkChange(let name, _, _), .schemaChange(let name, _):
            name
        }
    }

    /// The row's primary key; nil if the event isn't about a single row.
    public var id: StorageValue? {
        switch self {
        case .inserted(_, let id, _, _), .updated(_, let id, _, _), .deleted(_, let id, _, _): id
        case .bulkChange, .schemaChange: nil
        }
    }

    /// The log position that the event reflects: that of the row's last event, or that of the state that was read.
    public var position: Int64 {
        switch self {
        case .inserted(_, _, _, let position), .updated(_, _, _, let position), .deleted(_, _, _, let position),
            .bulkChange(_, _, let position), .schemaChange(_, let position):
            position
        }
    }
}
