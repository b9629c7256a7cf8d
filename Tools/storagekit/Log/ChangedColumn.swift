import StorageKit

/// A change of one column as `--changed` names it: `status`, `status=closed`, `status:open->closed`.
///
/// Values are compared as they are shown; a text may have quotes or none.
struct ChangedColumn: Equatable, Sendable {
    let column: String
    /// The value before; any if nil.
    let old: String?
    /// The value after; any if nil.
    let new: String?

    init(_ text: String) throws {
        // The first sign decides: a value may contain the others, as a URL does.
        if let sign = text.firstIndex(where: { $0 == ":" || $0 == "=" }), text[sign] == ":",
            let arrow = text[sign...].firstRange(of: "->")
        {
            column = String(text[..<sign])
            old = Self.trimmed(text[text.index(after: sign)..<arrow.lowerBound])
            new = Self.trimmed(text[arrow.upperBound...])
        } else if let equals = text.firstIndex(of: "=") {
            column = String(text[..<equals])
            old = nil
            new = String(text[text.index(after: equals)...])
        } else {
            (column, old, new) = (text, nil, nil)
        }
        guard !column.isEmpty else {
            throw GrammarError(
                problem: "'\(text)' names no column.",
                examples: "Changes look like status, status=closed, status:open->closed.")
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    func matches(_ event: StorageEvent) -> Bool {
        guard event.operation == .update else { return false }
        return event.changedColumns(only: [column]).contains { change in
            Self.isValue(old, change.old) && Self.isValue(new, change.new)
        }
    }

    private static func isValue(_ text: String?, _ field: StorageEvent.Field?) -> Bool {
        guard let text else { return true }
        guard let field else { return false }
        return field.value == .null ? text == "NULL" || text == ValueText.null : ValueText.matches(text, field)
    }
}
