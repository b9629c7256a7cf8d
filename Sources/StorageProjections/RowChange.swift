public import StorageCore
internal import StorageLog

/// The net change of one row in a batch: its state before and after, however often it changed in between.
///
/// ```swift
/// for change in try batch.changes(of: "orders") {
///     print(change.key, change.old?["status"] ?? .null, change.new?["status"] ?? .null)
/// }
/// ```
public struct RowChange: Sendable, Hashable {
    /// The table of the row.
    public let table: String
    /// The primary key.
    public let key: [StorageValue]
    /// The whole row before, by columns; nil if there was none.
    public let old: [String: StorageValue]?
    /// The whole row after, by columns; nil if it no longer exists.
    public let new: [String: StorageValue]?
    /// Position of the row's last event in the batch.
    public let position: Int64
}

extension RowChange: CustomStringConvertible {
    /// The change in one line: `@101 update posts/42 title: "a" → "b"`. An update shows only the columns that differ.
    public var description: String {
        let row = ChangeText.row(table, key)
        switch (old, new) {
        case (nil, let new?):
            return "@\(position) " + ChangeText.text(.insert, of: row, old: nil, new: Self.fields(new))
        case (let old?, nil):
            return "@\(position) " + ChangeText.text(.delete, of: row, old: Self.fields(old), new: nil)
        default:
            let columns = Set((old ?? [:]).keys).union((new ?? [:]).keys).filter { old?[$0] != new?[$0] }.sorted()
            return "@\(position) "
                + ChangeText.text(
                    .update, of: row, old: columns.map { .init(column: $0, value: old?[$0] ?? .null) },
                    new: columns.map { .init(column: $0, value: new?[$0] ?? .null) })
        }
    }

    private static func fields(_ row: [String: StorageValue]) -> [StorageEvent.Field] {
        row.sorted { $0.key < $1.key }.map { StorageEvent.Field(column: $0, value: $1) }
    }
}
