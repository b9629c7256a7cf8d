internal import CSQLite
internal import Foundation
internal import StorageCore

/// The tables of the file as SQLite reports them.
struct IntrospectedSchema {
    var version: Int64
    /// By folded name.
    var tables: [ExactText: IntrospectedTable]
}

struct IntrospectedTable {
    var name: String
    var root: Int64
    var hasRowid: Bool
    var isStrict: Bool
    var hasTriggers: Bool
    /// The SQL of the table, then of its indexes and triggers, by name.
    var definition: [String]
    /// Tables with a reserved name have none here, unless they are entities of the store's own.
    var columns: [IntrospectedColumn]

    /// Whether the name is reserved, so that no entity of users can have it.
    var isReserved: Bool { name.lowercasedASCII.hasPrefix("storage_") }
}

struct IntrospectedColumn {
    var name: String
    /// The column's index in the table.
    var ordinal: Int
    var type: String
    var affinity: ColumnAffinity
    var collation: String
    var required: Bool
    var keyOrdinal: Int
    var isGenerated: Bool
    var fallback: StorageValue
}

extension LogWriter {
    /// Reads one row of SQLite's schema for each table, and more only for those that have changed.
    func readSchema() throws -> IntrospectedSchema {
        let found = try IntrospectedSchema(database, knowing: schema.introspected)
        schema.introspected = found
        return found
    }

    /// Defines for capture which tables to record and the id of each column.
    ///
    /// - Parameter standIns: Tables that replace entities' own, by entity.
    func defineCapture(_ found: IntrospectedSchema, standIns: [UInt32: String] = [:]) throws {
        var definitions = CaptureDefinitions()
        for entity in CatalogEntity.reserved {
            if let table = found.tables[entity.stored.folded] { definitions.add(entity, table, unfilled: []) }
        }
        for entity in catalog.live {
            guard standIns[entity.id] != nil || !schema.replaced.contains(entity.id) else { continue }
            let name = standIns[entity.id] ?? entity.stored
            guard let table = found.tables[name.folded] else { continue }
            definitions.add(entity, table, unfilled: schema.unfilled)
        }
        try definitions.install(in: capture)
    }
}

extension IntrospectedSchema {
    /// - Parameter earlier: The schema that was read before: tables with the same SQL aren't inspected again.
    init(_ database: Connection, knowing earlier: IntrospectedSchema? = nil) throws {
        let version = try PreparedStatement(database, "PRAGMA schema_version")
        self.version = try version.step() ? version.integer(0) : 0
        tables = [:]
        var definitions: [ExactText: [String]] = [:]
        var triggers: Set<ExactText> = []
        let objects = try PreparedStatement(
            database,
            """
            SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema
            WHERE sql IS NOT NULL ORDER BY type <> 'table', type, name
            """)
        var names: [(name: String, root: Int64)] = []
        while try objects.step() {
            let table = objects.string(2).folded
            var sql = objects.string(4)
            if objects.string(0) == "trigger",
                WriteGuard.owns(trigger: objects.string(1), on: objects.string(2), sql: sql)
            {
                continue
            }
            // SQLite spells the name of a recreated table differently, because renaming a table rewrites its SQL.
            if objects.string(0) == "table" {
                sql = TableSQL.renaming(sql, to: quoted(objects.string(1))) ?? sql
            }
            definitions[table, default: []].append(sql)
            switch objects.string(0) {
            case "table": names.append((objects.string(1), objects.integer(3)))
            case "trigger": triggers.insert(table)
            default: break
            }
        }
        let kinds = try Self.kinds(database)
        let defaults = DefaultValues()
        // Virtual tables have no root page and can't be entities.
        for table in names where table.root > 0 {
            let key = table.name.folded
            // Byte for byte: two spellings of é are two names.
            let definition = definitions[key] ?? []
            if var known = earlier?.tables[key], known.definition.map(ExactText.init) == definition.map(ExactText.init)
            {
                known.root = table.root
                tables[key] = known
                continue
            }
            let kind = kinds[key] ?? (hasRowid: false, isStrict: false)
            var found = IntrospectedTable(
                name: table.name, root: table.root, hasRowid: kind.hasRowid, isStrict: kind.isStrict,
                hasTriggers: triggers.contains(key), definition: definition, columns: [])
            if !found.isReserved || CatalogEntity.reserved.contains(where: { $0.stored == key.text }) {
                found.columns = try Self.columns(of: found, defaults: defaults, database)
            }
            tables[key] = found
        }
    }

    private static func kinds(
        _ database: Connection
    ) throws -> [ExactText: (hasRowid: Bool, isStrict: Bool)] {
        let select = try PreparedStatement(
            database, "SELECT name, wr, strict FROM pragma_table_list WHERE schema = 'main'")
        var kinds: [ExactText: (hasRowid: Bool, isStrict: Bool)] = [:]
        while try select.step() { kinds[select.string(0).folded] = (select.integer(1) == 0, select.integer(2) != 0) }
        return kinds
    }

    private static func columns(
        of table: IntrospectedTable, defaults: DefaultValues, _ database: Connection
    ) throws -> [IntrospectedColumn] {
        let select = try PreparedStatement(
            database,
            """
            SELECT name, type, "notnull", dflt_value, pk, cid, hidden
            FROM pragma_table_xinfo(?) WHERE hidden <> 1
            """)
        select.bind(text: table.name, at: 1)
        var columns: [IntrospectedColumn] = []
        while try select.step() {
            let (name, type) = (select.string(0), select.string(1))
            let literal = select.row.isNull(at: 3) ? nil : select.string(3)
            columns.append(
                IntrospectedColumn(
                    name: name, ordinal: Int(select.integer(5)), type: type,
                    affinity: ColumnAffinity(declaredType: type, isStrict: table.isStrict),
                    collation: try collation(of: name, in: table.name, database), required: select.integer(2) != 0,
                    keyOrdinal: Int(select.integer(4)), isGenerated: select.integer(6) != 0,
                    fallback: try literal.map {
                        try defaults.value(of: $0, type: type, isStrict: table.isStrict, isAdded: true)
                    } ?? .null))
        }
        return columns
    }

    private static func collation(
        of column: String, in table: String, _ database: Connection
    ) throws -> String {
        var name: UnsafePointer<CChar>?
        let code = sqlite3_table_column_metadata(
            database.handle, "main", table, column, nil, &name, nil, nil, nil)
        guard code == SQLITE_OK, let name else { throw database.error(code) }
        return String(cString: name).uppercased()
    }
}
