internal import CSQLite
internal import Foundation
internal import StorageCore

/// The tables of the file as SQLite reports them.
///
/// Invariant: a reading that knows an earlier one equals a reading that knows none. Of the earlier one it uses
///
/// - a row of `sqlite_schema`, if SQLite returns it again, byte for byte;
/// - the columns of a table, if the SQL of the table, of its indexes and of its triggers is the same. SQLite itself keeps nothing
///   else of them, so an `ALTER`, a rollback or another program can't change the columns and leave the SQL.
///
/// Columns are those of the schema that SQLite has parsed, SQL is that of the rows. They agree because the writer's connection is
/// defensive: no statement edits the rows themselves.
struct IntrospectedSchema {
    var version: Int64
    /// By folded name.
    var tables: [ExactText: IntrospectedTable]
    /// The SQL of the engine's own objects, and of those of their tables, by name.
    private(set) var ownObjects: [String: String]
    /// The names of tables and views that hide those that SQLite has built in.
    private(set) var hidingBuiltIn: Set<String>
    /// Whether a failed statement may keep its earlier changes, because of a trigger or a table: see ``SchemaRow/usesFailResolution``.
    private(set) var usesFailResolution: Bool
    /// What this reading has cost beyond one pass over `sqlite_schema`.
    private(set) var work = SchemaWork()
    private var rows: [SchemaRow]
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
    var isReserved: Bool { name.isReservedName }
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
    /// Reads SQLite's schema, and more than its rows only for tables that have changed.
    func readSchema() throws -> IntrospectedSchema {
        let found = try IntrospectedSchema(database, knowing: schema.introspected)
        schema.introspected = found
        schema.usesFailResolution = found.usesFailResolution
        schemaWork += found.work
        return found
    }

    /// Defines for capture which tables to record and the id of each column.
    ///
    /// - Parameter standIns: Tables that replace entities' own, by entity.
    func defineCapture(_ found: IntrospectedSchema, standIns: [UInt32: String] = [:]) throws {
        var sources: [CaptureDefinitions.Source] = []
        for entity in CatalogEntity.reserved {
            if let table = found.tables[entity.stored.folded] { sources.append(.init(entity: entity, table: table)) }
        }
        for entity in catalog.live {
            guard standIns[entity.id] != nil || !schema.replaced.contains(entity.id) else { continue }
            let name = standIns[entity.id] ?? entity.stored
            guard let table = found.tables[name.folded] else { continue }
            sources.append(.init(entity: entity, table: table))
        }
        schemaWork.definitions += try definitions.define(sources, in: capture)
    }
}

extension IntrospectedSchema {
    /// - Parameter earlier: The schema that was read before.
    init(_ database: Connection, knowing earlier: IntrospectedSchema? = nil) throws {
        // A change of the schema is what compiles statements of ever more tables and columns.
        database.forgetCompiledStatements()
        let version = try PreparedStatement(database, "PRAGMA schema_version")
        self.version = try version.step() ? version.integer(0) : 0
        tables = earlier?.tables ?? [:]
        ownObjects = earlier?.ownObjects ?? [:]
        hidingBuiltIn = earlier?.hidingBuiltIn ?? []
        usesFailResolution = earlier?.usesFailResolution ?? false
        rows = []
        let changed = try readRows(database, knowing: earlier?.rows ?? [])
        guard !changed.isEmpty else { return }
        if changed.contains(where: \.isReserved) {
            let own = rows.filter { $0.isReserved && !$0.isGuard }
            ownObjects = Dictionary(own.map { ($0.name, $0.sql) }) { _, last in last }
        }
        if changed.contains(where: \.hidesBuiltIn) {
            hidingBuiltIn = Set(rows.lazy.filter(\.hidesBuiltIn).map(\.name))
        }
        if changed.contains(where: \.usesFailResolution) {
            usesFailResolution = rows.contains(where: \.usesFailResolution)
        }
        try inspectTables(Set(changed.map(\.key)), database)
    }

    /// Reads all rows.
    ///
    /// - Returns: Those that are new, and those of `known` that are gone; both versions of a changed one.
    private mutating func readRows(_ database: Connection, knowing known: [SchemaRow]) throws -> [SchemaRow] {
        rows.reserveCapacity(known.count + 1)
        var changed: [SchemaRow] = []
        var rest = known[...]
        let select = try PreparedStatement(database, SchemaRow.select)
        while try select.step() {
            let rowid = select.integer(0)
            while let gone = rest.first, gone.rowid < rowid { changed.append(rest.removeFirst()) }
            if let row = rest.first, row.rowid == rowid {
                rest.removeFirst()
                if row.isSame(as: select) {
                    rows.append(row)
                    continue
                }
                changed.append(row)
            }
            let row = SchemaRow(select)
            rows.append(row)
            changed.append(row)
            work.rows += 1
        }
        return changed + rest
    }

    /// Reads again what is known of tables.
    private mutating func inspectTables(_ names: Set<ExactText>, _ database: Connection) throws {
        let rows = Dictionary(grouping: rows.lazy.filter { names.contains($0.key) }, by: \.key)
        var fresh: [IntrospectedTable] = []
        for name in names {
            guard let objects = SchemaRow.objects(ofTable: rows[name] ?? []), let table = objects.first else {
                tables[name] = nil
                continue
            }
            let definition = objects.map(\.definition)
            if let known = tables[name], known.definition.isExactly(definition) {
                tables[name]?.root = table.root
                continue
            }
            fresh.append(
                IntrospectedTable(
                    name: table.name, root: table.root, hasRowid: false, isStrict: false,
                    hasTriggers: objects.contains { $0.type == "trigger" }, definition: definition, columns: []))
        }
        let kinds = try Self.kinds(of: fresh, database)
        let defaults = DefaultValues()
        for var table in fresh {
            let name = table.name.folded
            if let kind = kinds[name] { (table.hasRowid, table.isStrict) = kind }
            if !table.isReserved || CatalogEntity.reserved.contains(where: { $0.stored == name.text }) {
                table.columns = try Self.columns(of: table, defaults: defaults, database)
            }
            tables[name] = table
        }
        work.tables += fresh.count
    }

    private static func kinds(
        of tables: [IntrospectedTable], _ database: Connection
    ) throws -> [ExactText: (hasRowid: Bool, isStrict: Bool)] {
        guard let first = tables.first else { return [:] }
        // SQLite walks over all tables for each name that it is asked for, and returns all if it is asked for none.
        let source = tables.count == 1 ? "temp.pragma_table_list(?1)" : "temp.pragma_table_list"
        let select = try PreparedStatement(
            database, "SELECT name, wr, strict FROM \(source) WHERE schema = 'main'")
        if tables.count == 1 { select.bind(text: first.name, at: 1) }
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
            FROM temp.pragma_table_xinfo(?, 'main') WHERE hidden <> 1
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
