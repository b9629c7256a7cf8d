internal import Foundation
internal import StorageCore
internal import StorageRecords

extension StorageEvent: CustomStringConvertible {
    /// The event in one line: `@101 t:12 update posts/42 title: "a" → "b"`.
    public var description: String { "@\(position) t:\(commit.number) \(change)" }

    /// The event without its position and commit.
    var change: String { ChangeText.text(operation, of: ChangeText.row(table, key), old: old, new: new) }
}

extension StorageEvent.Field: CustomStringConvertible {
    /// The column and its value: `title: "a"`.
    public var description: String { "\(column): \(shown)" }

    /// The value in readable form.
    var shown: String { uuid?.uuidString ?? value.description }

    /// A text without quotes; nil for other values.
    var text: String? { if case .text(let text) = value { text } else { nil } }

    private var uuid: UUID? { coding == ColumnSchema.uuid ? try? UUID(storageValue: value) : nil }
}
