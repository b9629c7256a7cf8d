/// A condition as SQL: text with a `?` for each value, in order.
package struct PredicateSQL {
    package private(set) var text = ""
    package private(set) var values: [StorageValue] = []
    private let name: (String) throws -> String

    /// - Parameter name: Returns a column's quoted name in SQL; throws for an unknown one.
    /// - Throws: `limit-exceeded` for a condition that is nested too deeply or has too many parts, or a pattern that is too long.
    package init(_ predicate: RowPredicate, name: @escaping (String) throws -> String) throws {
        try predicate.checkSize()
        self.name = name
        try append(predicate)
    }

    private mutating func append(_ predicate: RowPredicate) throws {
        switch predicate {
        case .constant(let answer): text += answer.map { $0 ? "1" : "0" } ?? "NULL"
        case .comparison(let column, let comparison, let operand, let collation):
            text += try name(column)
            if let collation { text += " COLLATE \(collation.rawValue)" }
            text += " \(comparison.rawValue) "
            switch operand {
            case .value(let value): bind(value)
            case .column(let other): text += try name(other)
            }
        case .isNull(let column): text += "\(try name(column)) IS NULL"
        case .among(let column, let list):
            text += "\(try name(column)) IN ("
            for (index, value) in list.enumerated() {
                if index > 0 { text += ", " }
                bind(value)
            }
            text += ")"
        case .between(let column, let lower, let upper):
            text += "\(try name(column)) BETWEEN "
            bind(lower)
            text += " AND "
            bind(upper)
        case .like(let column, let pattern, let escape): try append(like: pattern, escape: escape, of: column)
        case .all(let parts): try append(parts[...], joined: " AND ", empty: "1")
        case .any(let parts): try append(parts[...], joined: " OR ", empty: "0")
        case .not(let part):
            text += "NOT "
            try appendNested(part)
        case .sql(let sql, let list):
            try SQLFragment.check(sql, values: list.count)
            text += "(\(sql))"
            values += list
        }
    }

    /// SQLite accepts expressions up to a depth of 1,000. A chain of n conditions has depth n, so it is split in halves.
    private mutating func append(_ parts: ArraySlice<RowPredicate>, joined word: String, empty: String) throws {
        guard let first = parts.first else { return text += empty }
        if parts.count == 1 { return try appendNested(first) }
        if parts.count <= 32 {
            for (index, part) in parts.enumerated() {
                if index > 0 { text += word }
                try appendNested(part)
            }
            return
        }
        let middle = parts.startIndex + parts.count / 2
        text += "("
        try append(parts[..<middle], joined: word, empty: empty)
        text += ")\(word)("
        try append(parts[middle...], joined: word, empty: empty)
        text += ")"
    }

    private mutating func appendNested(_ part: RowPredicate) throws {
        text += "("
        try append(part)
        text += ")"
    }

    private mutating func append(like pattern: String, escape: Unicode.Scalar?, of column: String) throws {
        guard pattern.utf8.count <= 50_000 else {
            throw StorageError(
                .limitExceeded, "A pattern for \"\(column)\" is longer than 50,000 bytes.",
                remedy: "Look for a shorter text, or use full-text search.")
        }
        // SQLite's LIKE ends a pattern at NUL. No stored text has one: false, and unknown for NULL.
        guard !pattern.utf8.contains(0) else { return text += "(\(try name(column)) IS NULL AND NULL)" }
        text += "\(try name(column)) LIKE "
        bind(.text(pattern))
        guard let escape else { return }
        text += " ESCAPE "
        bind(.text(String(escape)))
    }

    private mutating func bind(_ value: StorageValue) {
        text += "?"
        values.append(value)
    }
}
