public import StorageCore
public import StorageEntities
public import StorageLog

/// A value computed from the rows that a query finds: their count, or a column's sum, mean, least or greatest value.
///
/// ```swift
/// let totals = AggregationSubscription(storage.query(Order.self), .count, .sum(\.total), .max(\.createdAt))
/// let (count, sum, latest) = totals.value
/// ```
public struct Aggregate<Entity: RegisteredEntity, Value: Sendable>: Sendable {
    let term: AggregateTerm
    /// The value for no rows.
    let empty: Value
    let decode: @Sendable (StorageValue) throws -> Value
}

extension Aggregate where Value == Int {
    private init(_ function: AggregateTerm.Function, _ column: String?) {
        self.init(term: AggregateTerm(function, column), empty: 0) { try Int(storageValue: $0) }
    }

    /// The number of rows.
    public static var count: Aggregate { Aggregate(.count, nil) }

    /// The number of rows in which a column isn't NULL.
    public static func count<Column>(
        of column: KeyPath<Entity.Record.Columns, StorageColumn<Column>>
    ) -> Aggregate { Aggregate(.count, Entity.Record.columns[keyPath: column].name) }

    /// The number of distinct values of a column, not counting NULL. The column's collation decides which texts are
    /// equal.
    ///
    /// It keeps a counter for each distinct value.
    public static func count<Column>(
        distinct column: KeyPath<Entity.Record.Columns, StorageColumn<Column>>
    ) -> Aggregate { Aggregate(.distinctCount, Entity.Record.columns[keyPath: column].name) }
}

extension Aggregate where Value: StorageColumnValue & AdditiveArithmetic {
    private init(sum column: String) {
        self.init(term: AggregateTerm(.sum, column), empty: .zero) { try Value(sum: $0) }
    }

    /// The sum of a column; zero if there are no values, or if they include both infinities, whose sum isn't a number.
    ///
    /// It is exact: inserting and deleting rows accumulates no rounding error. A sum of reals is the double nearest to
    /// the true sum. SQLite's `sum` rounds at each row, so its result may differ in the last digit. While a sum of
    /// whole numbers exceeds 64 bits or the column's type, the subscription has an error.
    public static func sum(_ column: KeyPath<Entity.Record.Columns, StorageColumn<Value>>) -> Aggregate {
        Aggregate(sum: Entity.Record.columns[keyPath: column].name)
    }

    /// The sum of a column's values that aren't NULL.
    public static func sum(_ column: KeyPath<Entity.Record.Columns, StorageColumn<Value?>>) -> Aggregate {
        Aggregate(sum: Entity.Record.columns[keyPath: column].name)
    }
}

extension Aggregate where Value == Double? {
    /// The mean of a column's values that aren't NULL; nil if there are none.
    ///
    /// It is as exact as `sum`. Use it for numbers: of a date, as of any text, SQLite uses the number at the beginning.
    public static func average<Column>(
        _ column: KeyPath<Entity.Record.Columns, StorageColumn<Column>>
    ) -> Aggregate {
        Aggregate(term: AggregateTerm(.average, Entity.Record.columns[keyPath: column].name), empty: nil) {
            try Double?(storageValue: $0)
        }
    }
}

extension Aggregate {
    private init<Column: Sendable>(_ function: AggregateTerm.Function, _ name: String) where Value == Column? {
        self.init(term: AggregateTerm(function, name), empty: nil) {
            $0 == .null ? nil : try ColumnDecoding.value($0, as: Column.self)
        }
    }

    /// The least value of a column that isn't NULL, in SQLite's order; nil if there is none.
    ///
    /// Some of the least values are kept ready; when all of them are used up, the next ones are read, which an index on
    /// the column makes fast.
    public static func min<Column: Sendable>(
        _ column: KeyPath<Entity.Record.Columns, StorageColumn<Column>>
    ) -> Aggregate where Value == Column? { Aggregate(.minimum, Entity.Record.columns[keyPath: column].name) }

    /// The least value of a column that isn't NULL.
    public static func min<Column: Sendable>(
        _ column: KeyPath<Entity.Record.Columns, StorageColumn<Column?>>
    ) -> Aggregate where Value == Column? { Aggregate(.minimum, Entity.Record.columns[keyPath: column].name) }

    /// The greatest value of a column that isn't NULL, in SQLite's order; nil if there is none. See `min`.
    public static func max<Column: Sendable>(
        _ column: KeyPath<Entity.Record.Columns, StorageColumn<Column>>
    ) -> Aggregate where Value == Column? { Aggregate(.maximum, Entity.Record.columns[keyPath: column].name) }

    /// The greatest value of a column that isn't NULL.
    public static func max<Column: Sendable>(
        _ column: KeyPath<Entity.Record.Columns, StorageColumn<Column?>>
    ) -> Aggregate where Value == Column? { Aggregate(.maximum, Entity.Record.columns[keyPath: column].name) }
}

/// Several aggregates as one value: that of the only one, or a tuple of all.
package struct AggregateReading<Value: Sendable>: Sendable {
    package let terms: [AggregateTerm]
    /// The values for no rows.
    package let empty: Value
    package let decode: @Sendable ([StorageValue]) throws -> Value

    package init<Entity: RegisteredEntity, each Part: Sendable>(
        _ aggregates: repeat Aggregate<Entity, each Part>
    ) where Value == (repeat each Part) {
        var terms: [AggregateTerm] = []
        for aggregate in repeat each aggregates { terms.append(aggregate.term) }
        self.terms = terms
        empty = (repeat (each aggregates).empty)
        decode = { values in
            var index = 0
            func next() -> StorageValue {
                defer { index += 1 }
                return values[index]
            }
            return (repeat try (each aggregates).decode(next()))
        }
    }
}
