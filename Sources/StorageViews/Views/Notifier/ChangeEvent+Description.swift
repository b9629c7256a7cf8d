internal import StorageCore
internal import StorageLog

extension ChangeEvent: CustomStringConvertible {
    /// The change in one line: `@101 update posts/42 title: "a" → "b"`, columns in the order of their names.
    public var description: String {
        let change =
            switch self {
            case .inserted(let table, let id, let row, _):
                ChangeText.text(.insert, of: ChangeText.row(table, [id]), old: nil, new: Self.fields(row))
            case .deleted(let table, let id, let row, _):
                ChangeText.text(.delete, of: ChangeText.row(table, [id]), old: Self.fields(row), new: nil)
            case .updated(let table, let id, let changes, _):
                ChangeText.text(
                    .update, of: ChangeText.row(table, [id]), old: Self.fields(changes.mapValues(\.old)),
                    new: Self.fields(changes.mapValues(\.new)))
            case .bulkChange(let table, let count, _):
                "\(table): \(count.map { ChangeText.number($0, "row") } ?? "many rows") changed"
            case .schemaChange(let table, _): "\(table): the schema changed"
            }
        return "@\(position) \(change)"
    }

    private static func fields(_ row: [String: StorageValue]) -> [StorageEvent.Field] {
        row.sorted { $0.key < $1.key }.map { StorageEvent.Field(column: $0, value: $1) }
    }
}
