package import StorageCore

/// Changes of rows as lines of text, for descriptions.
package enum ChangeText {
    /// `update posts/42 title: "a" → "b"`
    package static func text(
        _ operation: StorageEvent.Operation, of row: String, old: [StorageEvent.Field]?, new: [StorageEvent.Field]?
    ) -> String {
        let columns =
            switch operation {
            case .insert: (new ?? []).map(\.description)
            case .delete: (old ?? []).map(\.description)
            case .update: zip(old ?? [], new ?? []).map { "\($0) → \($1.shown)" }
            }
        return (["\(operation) \(row)"] + (columns.isEmpty ? [] : [columns.joined(separator: ", ")]))
            .joined(separator: " ")
    }

    /// `posts/42`
    package static func row(_ table: String, _ key: [StorageEvent.Field]) -> String {
        "\(table)/" + key.map { $0.text ?? $0.shown }.joined(separator: ",")
    }

    /// `posts/42`
    package static func row(_ table: String, _ key: [StorageValue]) -> String {
        row(table, key.map { StorageEvent.Field(column: "", value: $0) })
    }

    /// `3 inserted, 1 updated`: counts of 0 are left out.
    ///
    /// - Returns: nil if all counts are 0.
    package static func counts(inserted: Int, updated: Int, deleted: Int) -> String? {
        let parts = [(inserted, "inserted"), (updated, "updated"), (deleted, "deleted")].filter { $0.0 > 0 }
        return parts.isEmpty ? nil : parts.map { "\($0) \($1)" }.joined(separator: ", ")
    }

    /// `1 row`, `2 rows`
    package static func number(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
