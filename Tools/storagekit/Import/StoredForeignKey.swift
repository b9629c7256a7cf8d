import StorageKit

/// A foreign key of the schema, and the condition that finds rows that violate it.
struct StoredForeignKey {
    let child: String
    let parent: String
    var childColumns: [String] = []
    var parentColumns: [String] = []
    var parentExists = true
    /// Whether a referring row stores exactly the value that it refers to, so that an index can find it: SQLite compares them with the parent
    /// column's affinity and collation.
    var isNarrow = false

    /// The condition on a row `c` of the child that refers to no row.
    ///
    /// The plus sign removes the column's affinity, so that the parent's is applied, as SQLite does for foreign keys.
    var isDangling: String {
        let given = childColumns.map { "c.\(quoted($0)) IS NOT NULL" }
        guard parentExists else { return given.joined(separator: " AND ") }
        let pairs = zip(parentColumns, childColumns).map { "p.\(quoted($0)) = +c.\(quoted($1))" }
        let row = "SELECT 1 FROM \(quoted(parent)) AS p WHERE \(pairs.joined(separator: " AND "))"
        return (given + ["NOT EXISTS (\(row))"]).joined(separator: " AND ")
    }

    func isToKey(of entity: CatalogEntity) -> Bool {
        let key = Set(entity.key.map { $0.stored.folded })
        return parentColumns.allSatisfy { key.contains($0.folded) }
    }

    /// Returns the foreign keys of all tables of the store, with or without history.
    static func all(_ writer: LogWriter) throws -> [StoredForeignKey] {
        let select = try writer.statement(
            """
            SELECT m.name, f.id, f."table", f."from", f."to" FROM sqlite_schema AS m, temp.pragma_foreign_key_list(m.name) AS f
            WHERE m.type = 'table' ORDER BY m.name, f.id, f.seq
            """)
        defer { select.reset() }
        var found: [StoredForeignKey] = []
        var last: (table: String, id: Int64)?
        while try select.step() {
            let (child, id) = (select.string(0), select.integer(1))
            if last.map({ $0 != (child, id) }) ?? true {
                found.append(StoredForeignKey(child: child, parent: select.string(2)))
                last = (child, id)
            }
            found[found.count - 1].childColumns.append(select.string(3))
            if !select.row.isNull(at: 4) { found[found.count - 1].parentColumns.append(select.string(4)) }
        }
        return try found.map { try $0.completed(writer) }
    }

    /// A foreign key that names no columns of the parent refers to its primary key.
    private func completed(_ writer: LogWriter) throws -> StoredForeignKey {
        var copy = self
        let select = try writer.statement("SELECT name, pk FROM temp.pragma_table_xinfo(?1) ORDER BY pk")
        select.bind(text: parent, at: 1)
        defer { select.reset() }
        var names: Set<ExactText> = []
        var key: [String] = []
        while try select.step() {
            names.insert(select.string(0).folded)
            if select.integer(1) > 0 { key.append(select.string(0)) }
        }
        if parentColumns.isEmpty { copy.parentColumns = key }
        copy.parentExists =
            copy.parentColumns.count == childColumns.count
            && copy.parentColumns.allSatisfy { names.contains($0.folded) }
        copy.isNarrow = copy.isNarrow(in: writer.catalog)
        return copy
    }

    private func isNarrow(in catalog: Catalog) -> Bool {
        guard parentExists, let child = catalog.entity(stored: child), let parent = catalog.entity(stored: parent)
        else {
            return false
        }
        return zip(childColumns, parentColumns).allSatisfy { childName, parentName in
            let one = child.live.first { $0.stored.folded == childName.folded }
            let other = parent.live.first { $0.stored.folded == parentName.folded }
            guard let one, let other else { return false }
            return one.affinity == other.affinity && one.collation == other.collation
        }
    }
}
