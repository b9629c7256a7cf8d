/// A condition on the rows of one entity.
///
/// ```swift
/// let isDue = RowPredicate.comparison(column: "due", .less, .value(now.storageValue))
/// let isOpen = !RowPredicate.comparison(column: "isDone", .equal, .value(.integer(1)))
/// let tasks = try await storage.query(Task.self).where(isDue && isOpen).fetch()
/// ```
///
/// One condition serves all uses: it is converted to SQL for queries, and evaluated in Swift for rows in memory, with the same
/// result. As in SQL, the result is true, false or, after a comparison with NULL, unknown; a query returns the rows for which
/// it is true.
public indirect enum RowPredicate: Sendable, Hashable {
    /// A constant result; nil means unknown.
    case constant(Bool?)
    /// A column compared with a value or with another column.
    case comparison(column: String, Comparison, Operand, collation: Collation? = nil)
    /// Whether a column is NULL; never unknown.
    case isNull(column: String)
    /// Whether a column equals one of several values.
    case among(column: String, [StorageValue])
    /// Whether a column lies between two values, both included.
    case between(column: String, StorageValue, StorageValue)
    /// Whether a column's text matches a pattern, in which `%` matches any text and `_` one character. As everywhere in SQLite,
    /// case is ignored only for the letters from A to Z.
    case like(column: String, pattern: String, escape: Unicode.Scalar? = nil)
    /// Whether all conditions are true.
    case all([RowPredicate])
    /// Whether at least one condition is true.
    case any([RowPredicate])
    /// Whether a condition is false.
    case not(RowPredicate)
    /// SQL of your own, with a `?` for each value.
    case sql(String, [StorageValue])

    /// An operator that compares a column. The raw values are SQL.
    public enum Comparison: String, Sendable, Hashable, CaseIterable {
        /// Equality; unknown for NULL.
        case equal = "="
        /// Inequality; unknown for NULL.
        case notEqual = "<>"
        /// Less than.
        case less = "<"
        /// Less than or equal.
        case lessOrEqual = "<="
        /// Greater than.
        case greater = ">"
        /// Greater than or equal.
        case greaterOrEqual = ">="
        /// Like `equal`, but NULL equals NULL and the result is never unknown.
        case same = "IS"
        /// The opposite of ``same``.
        case different = "IS NOT"
    }

    /// The right operand of a comparison.
    public enum Operand: Sendable, Hashable {
        /// A value.
        case value(StorageValue)
        /// Another column of the row.
        case column(String)
    }

    /// How texts are compared.
    public enum Collation: String, Sendable, Hashable, CaseIterable {
        /// By bytes.
        case binary = "BINARY"
        /// By bytes, ignoring the case of letters from A to Z.
        case noCase = "NOCASE"
        /// By bytes, ignoring trailing spaces.
        case trimmed = "RTRIM"
    }
}

extension RowPredicate {
    /// The SQL fragments in the condition that may read other tables than the row's.
    package var sqlReadingTables: [String] {
        switch self {
        case .sql(let text, _): SQLFragment.mayReadTables(text) ? [text] : []
        case .all(let parts), .any(let parts): parts.flatMap(\.sqlReadingTables)
        case .not(let part): part.sqlReadingTables
        default: []
        }
    }

    /// The columns that the condition uses; nil for SQL.
    package var columns: Set<String>? {
        switch self {
        case .constant: []
        case .comparison(let column, _, .column(let other), _): [column, other]
        case .comparison(let column, _, .value, _), .isNull(let column), .among(let column, _),
            .between(let column, _, _), .like(let column, _, _):
            [column]
        case .all(let parts), .any(let parts):
            parts.reduce(Set<String>?.some([])) { all, part in
                all.flatMap { all in part.columns.map { all.union($0) } }
            }
        case .not(let part): part.columns
        case .sql: nil
        }
    }

    /// Whether the condition can be evaluated without a database: it contains no SQL of your own.
    public var isEvaluable: Bool {
        switch self {
        case .sql: false
        case .all(let parts), .any(let parts): parts.allSatisfy(\.isEvaluable)
        case .not(let part): part.isEvaluable
        default: true
        }
    }

    /// Checks that the condition isn't nested too deeply and doesn't have too many parts, before a recursive function reads it.
    ///
    /// - Throws: `limit-exceeded` if it is or has.
    /// - Complexity: O(parts), but at most ``Limits/conditionParts``.
    package func checkSize() throws(StorageError) {
        var level = parts
        var count = level.count
        for _ in 0..<Limits.conditionDepth {
            if level.isEmpty { return }
            var next: [RowPredicate] = []
            for part in level {
                let parts = part.parts
                count += parts.count
                guard count <= Limits.conditionParts else { throw Self.tooManyParts() }
                next += parts
            }
            level = next
        }
        throw StorageError(
            .limitExceeded, "A condition is nested deeper than \(Limits.conditionDepth) levels.",
            remedy: "Join conditions of one kind in one list, `.all([…])` or `.any([…])`, or use `in`.")
    }

    private static func tooManyParts() -> StorageError {
        StorageError(
            .limitExceeded, "A condition consists of more than \(Limits.conditionParts) conditions.",
            remedy: "Join fewer conditions; for many values of a column use `in`.")
    }

    /// The conditions that this one joins or negates.
    private var parts: [RowPredicate] {
        switch self {
        case .all(let parts), .any(let parts): parts
        case .not(let part): [part]
        default: []
        }
    }

    /// True if both conditions are true; chained conditions form one flat list.
    public static func && (left: RowPredicate, right: RowPredicate) -> RowPredicate {
        switch (left, right) {
        case (.all(let a), .all(let b)): .all(a + b)
        case (.all(let a), _): .all(a + [right])
        case (_, .all(let b)): .all([left] + b)
        default: .all([left, right])
        }
    }

    /// True if at least one of the conditions is true.
    public static func || (left: RowPredicate, right: RowPredicate) -> RowPredicate {
        switch (left, right) {
        case (.any(let a), .any(let b)): .any(a + b)
        case (.any(let a), _): .any(a + [right])
        case (_, .any(let b)): .any([left] + b)
        default: .any([left, right])
        }
    }

    /// The opposite of the condition; unknown stays unknown.
    public static prefix func ! (predicate: RowPredicate) -> RowPredicate { .not(predicate) }

    /// A condition in SQL of your own, with a `?` for each value: `.sql("length(name) > ?", 3)`.
    ///
    /// ```swift
    /// let tasks = try await storage.query(Task.self).where(.sql("length(title) < ?", .integer(20))).fetch()
    /// ```
    ///
    /// The text must be one expression, without comments and without numbered or named placeholders. Values are bound, never
    /// inserted into the text. The expression may read other tables, in a subquery or after `IN`; a live query follows them
    /// too.
    public static func sql(_ text: String, _ values: StorageValue...) -> RowPredicate { .sql(text, values) }

    /// Whether a column's text contains a text, whose `%` and `_` are matched literally.
    package static func contains(_ column: String, _ text: String) -> RowPredicate {
        .like(column: column, pattern: "%\(escaped(text))%", escape: "\\")
    }

    package static func hasPrefix(_ column: String, _ text: String) -> RowPredicate {
        .like(column: column, pattern: "\(escaped(text))%", escape: "\\")
    }

    package static func hasSuffix(_ column: String, _ text: String) -> RowPredicate {
        .like(column: column, pattern: "%\(escaped(text))", escape: "\\")
    }

    private static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == "%" || scalar == "_" || scalar == "\\" { result.append("\\") }
            result.append(scalar)
        }
        return String(result)
    }
}

extension RowPredicate.Comparison {
    /// The operator with this SQL symbol; `=` and `<>` have two spellings each.
    package init?(sql symbol: String) {
        switch symbol {
        case "==": self = .equal
        case "!=": self = .notEqual
        default: self.init(rawValue: symbol)
        }
    }

    /// Whether the comparison is true of two values that aren't NULL.
    ///
    /// - Parameter order: Negative if the left value comes first, positive if the right one does, else 0.
    @inlinable package func holds(for order: Int) -> Bool {
        switch self {
        case .equal, .same: order == 0
        case .notEqual, .different: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }
}
