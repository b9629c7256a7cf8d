internal import CSQLite
package import StorageCore
package import StorageHistory
package import StorageLog

/// The columns of one entity in a fixed order, with the properties that comparing their values needs.
///
/// Isolation: not `Sendable`; it belongs to a router.
package final class RowLayout {
    package struct Column {
        package let id: UInt32
        package let name: String
        package let stored: String
        package let affinity: ColumnAffinity
        /// The column's collation; nil for a custom one.
        package let collation: RowPredicate.Collation?
    }

    package let entity: UInt32
    package let name: String
    package let columns: [Column]
    /// The indices of the primary key's columns, in the key's order.
    package let keyIndices: [Int]
    /// The table's name in SQLite.
    let table: String
    /// All columns, as a statement selects them.
    package let selected: String
    /// Reads the row with a key, and behind its columns the position of its last event.
    let selectByKey: String
    /// The values of columns that were added after a row was stored.
    let fallbacks: [storage_value]
    private let fallbackBytes: ValueMemory
    /// Indices by column id, counted from the lowest one; -1 for other ids.
    private let indices: [Int32]
    private let firstId: UInt32
    /// What is in the entity's full-text index; nil if it has none.
    package let texts: RowTexts?

    /// - Parameter database: A connection that sees the entity's table; it knows the columns' collations.
    package convenience init(
        _ entity: CatalogEntity, in database: Connection, fullText index: FullTextIndex? = nil
    ) {
        self.init(
            entity,
            columns: entity.live.map { column in
                var collation: UnsafePointer<CChar>?
                // By the name of its database: the columns of a temporary view of the same name have no collations.
                sqlite3_table_column_metadata(
                    database.handle, "main", entity.stored, column.stored, nil, &collation, nil, nil, nil)
                let name = collation.map { String(cString: $0).uppercased() } ?? RowPredicate.Collation.binary.rawValue
                return Column(
                    id: column.id, name: column.name, stored: column.stored,
                    affinity: column.affinity,
                    collation: RowPredicate.Collation(rawValue: name))
            }, fullText: index)
    }

    package init(_ entity: CatalogEntity, columns: [Column], fullText index: FullTextIndex? = nil) {
        self.entity = entity.id
        self.columns = columns
        name = entity.name
        table = entity.stored
        let ids = columns.map(\.id)
        let keyIndices = entity.key.compactMap { key in ids.firstIndex(of: key.id) }
        self.keyIndices = keyIndices
        selected = columns.map { quoted($0.stored) }.joined(separator: ", ")
        let key = condition(binding: keyIndices.map { columns[$0].stored })
        selectByKey = "SELECT \(selected), _position FROM \(quoted(entity.stored)) WHERE \(key)"
        let first = ids.min() ?? 0
        var indices = [Int32](repeating: -1, count: Int((ids.max() ?? 0) - first) + 1)
        for (index, id) in ids.enumerated() { indices[Int(id - first)] = Int32(index) }
        self.indices = indices
        firstId = first
        texts = index.flatMap { index in
            RowTexts(index, columnIndices: index.columns.map { column in ids.firstIndex(of: column) })
        }
        let memory = ValueMemory()
        fallbacks = columns.map { column in
            memory.keep(entity.columns.first { $0.id == column.id }?.fallback ?? .null)
        }
        fallbackBytes = memory
    }

    /// The index of a column by its id; nil if the layout doesn't have it.
    @inline(__always)
    func index(of id: UInt32) -> Int? {
        guard id >= firstId, id - firstId < UInt32(indices.count) else { return nil }
        let index = indices[Int(id - firstId)]
        return index < 0 ? nil : Int(index)
    }

    /// The index of a column by its name.
    package func index(named name: String) throws -> Int {
        if let index = columns.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) { return index }
        throw StorageError(
            .invalidName, "There is no column \"\(name)\".",
            remedy: StorageError.existing(columns.map(\.name)))
    }

    /// The columns of these names as a set.
    package func mask(of names: some Sequence<String>) throws -> ColumnMask {
        var mask = ColumnMask.none
        for name in names { mask.insert(try index(named: name)) }
        return mask
    }
}
