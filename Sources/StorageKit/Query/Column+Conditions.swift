public import StorageCore
public import StorageLog

extension StorageColumn where Value: StorageColumnValue {
    /// Whether the column equals one of several values. As with `==`, NULL equals nil and no other value.
    ///
    /// ```swift
    /// let orders = try await storage.query(Order.self).where { $0.status.in(["open", "paid"]) }.fetch()
    /// ```
    public func `in`(_ values: some Sequence<Value>) -> RowPredicate {
        .among(column: name, values.map(\.storageValue), isNullable: Value.isNullable)
    }

    /// Whether the column lies in a range, both ends included.
    ///
    /// ```swift
    /// let books = try await storage.query(Book.self).where { $0.year.between(1900...1999) }.fetch()
    /// ```
    public func between(_ range: ClosedRange<Value>) -> RowPredicate where Value: Comparable {
        .between(column: name, range.lowerBound.storageValue, range.upperBound.storageValue)
    }

    /// Whether the column lies between two values, both included.
    public func between(_ lower: Value, _ upper: Value) -> RowPredicate {
        .between(column: name, lower.storageValue, upper.storageValue)
    }

    /// Returns an assignment of a value to the column, for an update.
    public func set(to value: Value) -> StorageAssignment {
        StorageAssignment(name, value)
    }
}

extension StorageColumn where Value: RawRepresentable, Value.RawValue: StorageColumnValue {
    /// Whether the column holds the raw value of one of several cases.
    @_disfavoredOverload
    public func `in`(_ values: some Sequence<Value>) -> RowPredicate {
        .among(column: name, values.map(\.rawValue.storageValue), isNullable: Value.RawValue.isNullable)
    }

    /// Returns an assignment of a case's raw value to the column, for an update.
    @_disfavoredOverload
    public func set(to value: Value) -> StorageAssignment {
        StorageAssignment(name, value.rawValue)
    }
}

extension StorageColumn {
    /// Whether the column holds the raw value of one of several cases, or NULL if nil is one of them.
    @_disfavoredOverload
    public func `in`<Case: RawRepresentable>(_ values: some Sequence<Case?>) -> RowPredicate
    where Value == Case?, Case.RawValue: StorageColumnValue {
        .among(column: name, values.map { $0?.rawValue.storageValue ?? .null }, isNullable: true)
    }

    /// Returns an assignment of a case's raw value, or of NULL, to the column, for an update.
    @_disfavoredOverload
    public func set<Case: RawRepresentable>(to value: Case?) -> StorageAssignment
    where Value == Case?, Case.RawValue: StorageColumnValue {
        StorageAssignment(name, value?.rawValue)
    }
}

extension StorageColumn {
    /// Returns an assignment of a value, as JSON, to the column, for an update.
    public func set<JSON: Codable>(to value: JSON) -> StorageAssignment where Value == StoredJSON<JSON> {
        StorageAssignment(name, json: value)
    }
}

extension RowPredicate {
    /// Whether a column equals one of several values. If it may be NULL, the result is never unknown, so that its negation is
    /// true where it is false.
    fileprivate static func among(column: String, _ values: [StorageValue], isNullable: Bool) -> RowPredicate {
        guard isNullable else { return .among(column: column, values) }
        let others = RowPredicate.among(column: column, values.filter { $0 != .null })
        return values.contains(.null)
            ? .any([.isNull(column: column), others]) : .all([.not(.isNull(column: column)), others])
    }
}

extension StorageColumn {
    /// Whether the column is NULL.
    public var isNull: RowPredicate { .isNull(column: name) }
    /// Whether the column isn't NULL.
    public var isNotNull: RowPredicate { .not(.isNull(column: name)) }

    /// Returns the column with a collation to compare texts by, instead of its own: `$0.name.collating(.noCase) == "anna"`.
    ///
    /// ```swift
    /// let annas = try await storage.query(User.self).where { $0.name.collating(.noCase) == "anna" }.fetch()
    /// ```
    public func collating(_ collation: RowPredicate.Collation) -> CollatedColumn<Value> {
        CollatedColumn(column: self, collation: collation)
    }
}

/// A column that is compared by a given collation.
///
/// ```swift
/// let name = StorageColumn<String>("name").collating(.noCase)
/// let early = try await storage.query(User.self).where(name < "m").fetch()
/// ```
public struct CollatedColumn<Value>: Sendable {
    let column: StorageColumn<Value>
    let collation: RowPredicate.Collation
}

/// True of rows whose column is equal to a value by the given collation. NULL equals nil and no other value.
public func == <V: StorageColumnValue>(left: CollatedColumn<V>, value: V) -> RowPredicate {
    .comparison(
        column: left.column.name, V.isNullable ? .same : .equal, .value(value.storageValue), collation: left.collation)
}

/// True of rows whose column is less than a value by the given collation.
public func < <V: StorageColumnValue>(left: CollatedColumn<V>, value: V) -> RowPredicate {
    .comparison(column: left.column.name, .less, .value(value.storageValue), collation: left.collation)
}

/// True of rows whose column is greater than a value by the given collation.
public func > <V: StorageColumnValue>(left: CollatedColumn<V>, value: V) -> RowPredicate {
    .comparison(column: left.column.name, .greater, .value(value.storageValue), collation: left.collation)
}

/// A type whose column holds text, or text or NULL.
public protocol TextColumnValue {}
extension String: TextColumnValue {}
extension Optional: TextColumnValue where Wrapped: TextColumnValue {}

// `%` and `_` in the searched text are literal characters. Letters A to Z match in either case, all other letters only exactly, which is SQLite's
// rule for LIKE; use `collating` or your own SQL for other comparisons.
extension StorageColumn where Value: TextColumnValue {
    /// Whether the text contains another text.
    public func contains(_ text: String) -> RowPredicate { .contains(name, text) }
    /// Whether the text begins with another.
    public func hasPrefix(_ text: String) -> RowPredicate { .hasPrefix(name, text) }
    /// Whether the text ends with another.
    ///
    /// ```swift
    /// let local = try await storage.query(User.self).where { $0.email.hasSuffix("@example.com") }.fetch()
    /// ```
    public func hasSuffix(_ text: String) -> RowPredicate { .hasSuffix(name, text) }

    /// Whether the text matches an SQL LIKE pattern: `%` matches any text, `_` one character.
    ///
    /// ```swift
    /// let codes = try await storage.query(Article.self).where { $0.title.like("A\\_%", escape: "\\") }.fetch()
    /// ```
    public func like(_ pattern: String, escape: Unicode.Scalar? = nil) -> RowPredicate {
        .like(column: name, pattern: pattern, escape: escape)
    }
}
