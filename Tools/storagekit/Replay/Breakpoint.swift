import Foundation
import StorageKit

/// Where a replay stops: at an `error`, when a cell is set to a value (`orders/42#status = closed`), or when an SQL condition is true for an event
/// (`new_total > 1000`).
struct Breakpoint {
    enum Kind {
        case error
        /// A nil value matches any value.
        case cell(RowProbe, isEqual: Bool, value: String?)
        case sql(EventCondition)
    }

    let text: String
    let kind: Kind

    init(_ text: String, _ store: HistoryReader) throws {
        self.text = text
        if text == "error" {
            kind = .error
        } else if let cell = Self.cell(text, EntityNames(catalog: store.catalog)) {
            kind = .cell(
                try RowProbe(TargetArgument(cell.target), store), isEqual: cell.isEqual, value: cell.value)
        } else {
            kind = .sql(try Self.condition(text, store))
        }
    }

    var needsRows: Bool {
        if case .sql = kind { return true }
        return false
    }

    /// - Parameter whole: The event with the whole row before and after it, if a breakpoint needs that.
    func isHit(
        by event: () -> StorageEvent, at index: Int, of batch: EventBatch, whole: RowEvent?, in catalog: Catalog
    ) throws -> Bool {
        switch kind {
        case .error: false
        case .sql(let condition): try whole.map { try condition.holds(for: $0, in: catalog) } ?? false
        case .cell(let probe, let isEqual, let value):
            probe.matches(batch, index)
                && probe.changes(event()).contains { change in
                    guard let value else { return true }
                    return (change.new.map { Self.text($0, is: value) } ?? false) == isEqual
                }
        }
    }

    // MARK: Reading

    /// SQL has no `#` outside of texts, and a target needs a slash before it.
    private static func cell(
        _ text: String, _ names: EntityNames
    ) -> (target: String, isEqual: Bool, value: String?)? {
        for (sign, isEqual) in [(" != ", false), (" = ", true)] {
            guard let range = text.range(of: sign) else { continue }
            let target = String(text[..<range.lowerBound])
            if isTarget(target, names) { return (target, isEqual, unquoted(String(text[range.upperBound...]))) }
        }
        return isTarget(text, names) ? (text, true, nil) : nil
    }

    private static func isTarget(_ text: String, _ names: EntityNames) -> Bool {
        if let target = try? TargetArgument(text), target.column != nil,
            (try? names.entities(named: target.table)) != nil
        {
            return true
        }
        guard let slash = text.firstIndex(of: "/"), let hash = text.lastIndex(of: "#") else { return false }
        return slash < hash && !text[..<slash].contains { $0 == " " || $0 == "'" || $0 == "(" }
    }

    private static func unquoted(_ text: String) -> String {
        guard text.count >= 2, let quote = text.first, quote == "'" || quote == "\"", text.last == quote else {
            return text
        }
        return String(text.dropFirst().dropLast()).replacingOccurrences(
            of: String([quote, quote]), with: String(quote))
    }

    private static func text(_ field: StorageEvent.Field, is value: String) -> Bool {
        if field.value == .null { return value == ValueText.null || value.lowercased() == "null" }
        return ValueText.matches(value, field)
    }

    private static func condition(_ text: String, _ store: HistoryReader) throws -> EventCondition {
        let entities = EntityNames(catalog: store.catalog).users
        do {
            return try EventCondition(text, for: entities)
        } catch {
            let columns = Set(entities.flatMap(\.live).map(\.name)).sorted().prefix(12).joined(separator: ", ")
            throw CommandError(
                .usage, "'\(text)' can't be a condition for a break.", why: CommandError(wrapping: error).what,
                next: "Write error, TABLE/ID#COLUMN = VALUE, or SQL over old_X, new_X and X; columns are \(columns).")
        }
    }
}
