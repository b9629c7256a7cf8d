package import StorageEntities
package import StorageLog

/// How rows of one table become what a list holds.
package struct RowForm<Item: Sendable>: Sendable {
    package let table: QueryTable
    /// Makes an item of a statement's current row, whose first columns are those of the table.
    package let read: @Sendable (RowReader) throws -> Item
    let selectByKey: String
    /// Whether all forms of the item over the table read the same, so that nodes can share what was read.
    let isShared: Bool

    package init(
        table: QueryTable, isShared: Bool = true, read: @escaping @Sendable (RowReader) throws -> Item
    ) {
        self.table = table
        self.isShared = isShared
        self.read = read
        let key = table.key.map { table.columns[$0].stored }
        selectByKey = "\(table.select) WHERE \(condition(binding: key))"
    }
}

extension RowForm where Item: RegisteredEntity {
    /// Entities, as their record type reads them.
    package init(_ type: Item.Type = Item.self) {
        self.init(table: EntityTableCache.of(Item.Record.self).queryTable) { row in
            try Item.Record(reading: row).asEntity()
        }
    }
}
