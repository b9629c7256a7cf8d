internal import StorageLog

/// A reference to a row that isn't there, left by changes of the current commit.
struct InvalidReference {
    /// A foreign key of a table.
    struct Constraint {
        let table: String
        let parent: String
        /// Whether rows that refer to a deleted row stay as they are.
        let hasNoAction: Bool
        var columns: [String] = []
        var referenced: [String] = []

        /// SQL for a row `c` that refers to a row `p`. The referenced column decides how values are compared: the other one has no
        /// affinity with the plus sign.
        var condition: String {
            zip(referenced, columns).map { "p.\(quoted($0)) = +c.\(quoted($1))" }.joined(separator: " AND ")
        }
    }

    /// A row whose change leaves the reference.
    struct Cause {
        let row: RowAddress
        let conflict: RevertConflict
    }

    private let constraint: Constraint
    /// The key of the row that refers to the missing one; empty if its table has no history.
    private let key: [ExactValue]
    /// The values by which it refers to it.
    private let values: [ExactValue]
    /// Whether the row itself was changed.
    private let isChanged: Bool

    /// Finds the references from and to the tables of the events since one. Reads those tables and the ones that refer to them
    /// completely.
    ///
    /// - Parameter start: The index of the first captured event.
    static func find(_ writer: LogWriter, changedFrom start: Int) throws -> [InvalidReference] {
        let view = writer.captured
        let rows = Set((start..<view.count).map { RowAddress(view, at: $0) })
        let tables = Set(Set(rows.map(\.entity)).compactMap { writer.catalog.entity(id: $0)?.stored.folded })
        var found: [InvalidReference] = []
        for constraint in try constraints(writer)
        where tables.contains(constraint.table.folded) || tables.contains(constraint.parent.folded) {
            let entity = writer.catalog.entity(stored: constraint.table)
            let keys = entity?.key.map(\.stored) ?? []
            let list = (keys + constraint.columns).map { "c.\(quoted($0))" }.joined(separator: ", ")
            let isSet = constraint.columns.map { "c.\(quoted($0)) IS NOT NULL" }.joined(separator: " AND ")
            let select = try PreparedStatement(
                writer.database,
                """
                SELECT \(list) FROM \(quoted(constraint.table)) AS c
                WHERE \(isSet) AND NOT EXISTS (SELECT 1 FROM \(quoted(constraint.parent)) AS p WHERE \(constraint.condition))
                """)
            while try select.step() {
                let cells = (0..<keys.count + constraint.columns.count).map { ExactValue(select, column: Int32($0)) }
                let key = Array(cells.prefix(keys.count))
                let isChanged = entity.map { rows.contains(RowAddress(entity: $0.id, values: key)) } ?? false
                found.append(
                    InvalidReference(
                        constraint: constraint, key: key, values: Array(cells.dropFirst(keys.count)),
                        isChanged: isChanged))
            }
        }
        return found
    }

    static func constraints(_ writer: LogWriter) throws -> [Constraint] {
        // Without a list of columns a foreign key refers to the primary key.
        let select = try writer.statement(
            """
            SELECT m.name, f.seq, f."table", f."from",
                coalesce(f."to", (SELECT p.name FROM temp.pragma_table_info(f."table") AS p WHERE p.pk = f.seq + 1)),
                f.on_delete IN ('NO ACTION', 'RESTRICT')
            FROM sqlite_schema AS m, temp.pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table'
            ORDER BY m.name, f.id, f.seq
            """)
        defer { select.reset() }
        var constraints: [Constraint] = []
        while try select.step() {
            if select.integer(1) == 0 {
                constraints.append(
                    Constraint(
                        table: select.string(0), parent: select.string(2), hasNoAction: select.integer(5) != 0))
            }
            constraints[constraints.count - 1].columns.append(select.string(3))
            constraints[constraints.count - 1].referenced.append(select.string(4))
        }
        return constraints
    }

    /// The rows that may be the cause, the likelier one first: the referenced row, if it is there now that the changes are undone,
    /// or else the referring one.
    func causes(_ writer: LogWriter) throws -> [Cause] {
        let entity = writer.catalog.entity(stored: constraint.table)
        let parent = writer.catalog.entity(stored: constraint.parent)
        var causes: [Cause] = []
        if let parent, let key = try referencedKey(of: parent, writer) {
            let row = entity.map { ChangeText.row($0.name, self.key.map(\.value)) } ?? "a row of \(constraint.table)"
            causes.append(Self.cause(parent, key, because: "\(row) refers to it"))
        }
        if let entity, isChanged {
            let name = parent?.name ?? constraint.parent
            causes.append(Self.cause(entity, key, because: "it refers to a row of \(name) that isn't there"))
        }
        return causes
    }

    private func referencedKey(of parent: CatalogEntity, _ writer: LogWriter) throws -> [ExactValue]? {
        let keys = parent.key.map { quoted($0.stored) }.joined(separator: ", ")
        let condition = constraint.referenced.map { "\(quoted($0)) = ?" }.joined(separator: " AND ")
        let select = try writer.statement("SELECT \(keys) FROM \(quoted(parent.stored)) WHERE \(condition)")
        defer { select.reset() }
        for (index, value) in values.enumerated() { value.bind(to: select, at: Int32(index + 1)) }
        guard try select.step() else { return nil }
        return parent.key.indices.map { ExactValue(select, column: Int32($0)) }
    }

    static func cause(_ entity: CatalogEntity, _ key: [ExactValue], because reason: String) -> Cause {
        Cause(
            row: RowAddress(entity: entity.id, values: key),
            conflict: RevertConflict(
                table: entity.name, key: key.map(\.value), column: nil, reason: reason, expected: nil, found: nil))
    }
}
