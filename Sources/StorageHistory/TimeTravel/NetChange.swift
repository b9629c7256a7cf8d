internal import StorageCore
package import StorageLog

/// The difference of one row between two states, with exact values as in the log.
package struct NetChange: Sendable {
    package struct Cell: Sendable {
        package let column: DifferenceTable.Column
        package let old: ExactValue
        package let new: ExactValue
    }

    package let operation: StorageEvent.Operation
    package let table: DifferenceTable
    package let key: [ExactValue]
    /// The columns that differ; for an insert all columns of the second state, for a delete all of the first.
    package let cells: [Cell]

    /// Events don't hold a new column's default for existing rows. So a column that a state lacks counts as holding its default
    /// there, and a row differs only if it holds another value.
    ///
    /// - Returns: nil if the row is the same in both states.
    init?(_ net: NetRow, table: DifferenceTable, isBackward: Bool) {
        // A table that doesn't exist has no rows, whatever events it had.
        let existed = net.existed && net.firstEntity == (isBackward ? table.to : table.from)?.id
        let exists = net.exists && net.row.entity == (isBackward ? table.from : table.to)?.id
        let (hadRow, hasRow) = isBackward ? (exists, existed) : (existed, exists)
        guard hadRow || hasRow else { return nil }
        operation = hadRow ? hasRow ? .update : .delete : .insert
        self.table = table
        key = net.row.values
        let (from, to) = isBackward ? (net.new, net.old) : (net.old, net.new)
        cells = table.columns.compactMap { column in
            guard hadRow && hasRow || (hadRow ? column.from : column.to) != nil else { return nil }
            let fallback = column.to.map { ExactValue($0.fallback) } ?? .null
            let before = hadRow ? column.from.map { Self.value(of: $0, in: from) } ?? fallback : .null
            let after = hasRow ? column.to.map { Self.value(of: $0, in: to) } ?? .null : .null
            if hadRow, hasRow {
                if before == after || column.to == nil && before == column.from.map({ ExactValue($0.fallback) }) {
                    return nil
                }
            }
            return Cell(column: column, old: before, new: after)
        }
        if hadRow, hasRow, cells.isEmpty { return nil }
    }

    private init(_ change: NetChange, cells: [Cell]) {
        operation = change.operation
        table = change.table
        key = change.key
        self.cells = cells
    }

    /// The change of some columns only; nil if none of them differs.
    package func narrowed(to wanted: (DifferenceTable.Column) -> Bool) -> NetChange? {
        let cells = cells.filter { wanted($0.column) }
        return cells.isEmpty ? nil : NetChange(self, cells: cells)
    }

    private static func value(of column: CatalogColumn, in cells: [NetRow.Cell]) -> ExactValue {
        cells.value(of: column.id) ?? ExactValue(column.fallback)
    }
}

extension RowDifference {
    package init(_ change: NetChange) {
        // Each state interprets a column's values by its own type and coding.
        let old = change.cells.map { Self.field($0.old, of: $0.column.from ?? $0.column.to, named: $0.column.name) }
        let new = change.cells.map { Self.field($0.new, of: $0.column.to ?? $0.column.from, named: $0.column.name) }
        let key = zip(change.table.key, change.key).map { StorageEvent.Field($1.value, of: $0) }
        self.init(
            operation: change.operation, table: change.table.name, key: key,
            old: change.operation == .insert ? nil : old, new: change.operation == .delete ? nil : new)
    }

    private static func field(
        _ value: ExactValue, of column: CatalogColumn?, named name: String
    ) -> StorageEvent.Field {
        StorageEvent.Field(
            column: name, value: value.value, type: column?.type ?? "", coding: column?.coding ?? "")
    }
}
