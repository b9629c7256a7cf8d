package import GRDB
package import StorageCore
internal import StorageEntities

/// The rows of a list that code, not SQL, filters and sorts.
///
/// `Row` is what is read of a row, once for all lists that a change affects; `Item` is what one of the lists derives
/// from it, and `SortKey` determines the item's position in the list.
package struct EvaluatedListSpec<Row: Sendable, Item: Sendable & Equatable, SortKey: Sendable>: Sendable {
    /// How rows are read and turned into items, for one version of the schema.
    package struct Evaluation: Sendable {
        let form: RowForm<Row>
        let item: @Sendable (Row) throws -> (item: Item, sortKey: SortKey)?

        /// - Parameter item: Returns the row's item; nil if the row isn't in the list.
        package init(
            _ form: RowForm<Row>, item: @escaping @Sendable (Row) throws -> (item: Item, sortKey: SortKey)?
        ) {
            self.form = form
            self.item = item
        }
    }

    /// How much may be kept.
    package struct Memory: Sendable {
        /// The largest size of all items in bytes. Above it, items behind the window aren't kept.
        let limit: Int
        /// The size of an item.
        let byteCount: @Sendable (Item) -> Int
        /// Reserves room for all items; throws where they are larger than the limit, or that is too much now.
        let reserve: @Sendable (Int) throws -> Void

        package init(
            limit: Int, byteCount: @escaping @Sendable (Item) -> Int, reserve: @escaping @Sendable (Int) throws -> Void
        ) {
            (self.limit, self.byteCount, self.reserve) = (limit, byteCount, reserve)
        }
    }

    /// The entity's name.
    let entity: String
    /// How many items are shown; nil for all.
    let limit: Int?
    /// Whether these are the last ones.
    let isLimitedToLast: Bool
    let memory: Memory
    /// A total order of the items of different rows.
    let isBefore: @Sendable (SortKey, SortKey) -> Bool
    /// A condition that all rows of the list meet, and perhaps others, on columns with these names.
    let predicate: @Sendable (_ columns: Set<String>) -> RowPredicate?
    /// Called again when the schema has changed; throws if the list can't be evaluated any more.
    let evaluation: @Sendable (GRDB.Database) throws -> Evaluation

    package init(
        entity: String, limit: Int?, isLimitedToLast: Bool = false, memory: Memory,
        isBefore: @escaping @Sendable (SortKey, SortKey) -> Bool,
        predicate: @escaping @Sendable (_ columns: Set<String>) -> RowPredicate?,
        evaluation: @escaping @Sendable (GRDB.Database) throws -> Evaluation
    ) {
        (self.entity, self.isLimitedToLast) = (entity, isLimitedToLast)
        self.limit = RowRequest.reachable(limit: limit)
        (self.memory, self.isBefore) = (memory, isBefore)
        (self.predicate, self.evaluation) = (predicate, evaluation)
    }
}
