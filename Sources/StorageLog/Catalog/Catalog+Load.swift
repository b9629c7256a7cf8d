internal import CSQLite
internal import Foundation
internal import StorageCore

extension Catalog {
    /// Reads the catalog of an open store.
    package static func load(_ database: Connection) throws -> Catalog {
        let select = try PreparedStatement(database, "\(selection) ORDER BY entity, id")
        var rows: [CatalogRow] = []
        while try select.step() { rows.append(try CatalogRow(select.row)) }
        var catalog = try Catalog(rows: rows)
        try catalog.noteHiddenRowidNames(tables: Dictionary(catalog.live.map { ($0.id, $0.stored) }) { $1 }, database)
        return catalog
    }

    /// Notes which names of the rowid are hidden by columns that another program has added to tables.
    ///
    /// - Parameter tables: The tables that entities have now, by the entities' ids.
    mutating func noteHiddenRowidNames(tables: [UInt32: String], _ database: Connection) throws {
        // Most stores have no such column, and the text of its table would contain its name.
        let select = try PreparedStatement(
            database, "SELECT name, sql FROM main.sqlite_schema WHERE type = 'table' AND sql IS NOT NULL")
        var suspects: Set<ExactText> = []
        while try select.step() {
            if Self.mayNameRowid(sqlite3_column_text(select.pointer, 1)) { suspects.insert(select.string(0).folded) }
        }
        guard !suspects.isEmpty else { return }
        let columns = try PreparedStatement(
            database, "SELECT name FROM temp.pragma_table_xinfo(?1, 'main') WHERE hidden <> 1")
        for (id, table) in tables where suspects.contains(table.folded) {
            guard var entity = entity(id: id), !entity.isDropped else { continue }
            columns.bind(text: table, at: 1)
            var names: [String] = []
            while try columns.step() { names.append(columns.string(0)) }
            columns.reset()
            entity.noteHiddenRowidNames(by: names)
            if !entity.hiddenRowidNames.isEmpty { replace(entity) }
        }
    }

    /// Whether a statement may contain one of SQLite's names of the rowid, which contain "oid" or "wid" in any case.
    private static func mayNameRowid(_ sql: UnsafePointer<UInt8>?) -> Bool {
        // By bytes, because each read of the past looks at all tables.
        let oid: UInt32 = 0x6F_69_64
        let wid: UInt32 = 0x77_69_64
        guard var next = sql else { return false }
        var lastThree: UInt32 = 0
        while next.pointee != 0 {
            let lowercased = UInt32(next.pointee | 0x20)
            lastThree = (lastThree << 8 | lowercased) & 0xFF_FF_FF
            if lastThree == oid || lastThree == wid { return true }
            next += 1
        }
        return false
    }

    /// The columns of `storage_catalog`, in the order of a row's values.
    static let columns = CatalogEntity.catalog.columns
    private static let names = columns.map(\.stored).joined(separator: ", ")

    /// Selects the columns, then the position of the row's last event.
    static let selection = "SELECT \(names), _position FROM storage_catalog"

    /// Writes a row, then the position of its event.
    static let upsert = """
        INSERT INTO storage_catalog(\(names), _position)
        VALUES (\((columns.map { _ in "?" } + ["?"]).joined(separator: ", ")))
        ON CONFLICT(id) DO UPDATE SET \((columns.dropFirst(2).map(\.stored) + ["_position"])
            .map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
        """

    /// Builds the catalog from rows of `storage_catalog`: entities before their columns, each by rising id.
    ///
    /// - Throws: `corrupt` for a number that a catalog can't hold: values that are computed from them aren't checked again.
    init(rows: [CatalogRow]) throws {
        self.init()
        var entities: [UInt32: CatalogEntity] = [:]
        var order: [UInt32] = []
        for row in rows {
            let id = UInt32(try row.number(.id, in: Self.ids))
            let parent = UInt32(try row.number(.entity, in: 0...Self.ids.upperBound))
            if parent == 0 {
                entities[id] = try Self.entity(id, row)
                order.append(id)
            } else {
                let column = try Self.column(id, row)
                guard entities[parent]?.columns.append(column) != nil else {
                    throw StorageError.corruptLog("the catalog's column \(id) belongs to no entity")
                }
            }
        }
        for entity in CatalogEntity.reserved { add(entity) }
        for id in order { if let entity = entities[id] { add(try entity.checked()) } }
    }

    private static func entity(_ id: UInt32, _ row: CatalogRow) throws -> CatalogEntity {
        var entity = CatalogEntity(id: id, name: try row.text(.name), stored: try row.text(.stored), columns: [])
        entity.isDropped = try row.flag(.isDropped)
        entity.definition = try statements(row.text(.definition))
        entity.isStrict = try row.flag(.isStrict)
        return entity
    }

    private static func column(_ id: UInt32, _ row: CatalogRow) throws -> CatalogColumn {
        var column = CatalogColumn(
            id: id, name: try row.text(.name), stored: try row.text(.stored), type: try row.text(.type),
            keyOrdinal: Int(try row.number(.keyOrdinal, in: 0...Int64(Limits.keyColumns))),
            required: try row.flag(.required), fallback: row[.fallback], coding: try row.text(.coding))
        column.isDropped = try row.flag(.isDropped)
        column.definition = try row.text(.definition)
        column.origin = UInt32(try row.number(.origin, in: 0...ids.upperBound))
        guard let affinity = ColumnAffinity(rawValue: try row.text(.affinity)) else {
            throw StorageError.corruptLog("the catalog holds \(row[.affinity]) where an affinity is expected")
        }
        column.affinity = affinity
        column.collation = try row.text(.collation)
        guard try !row.flag(.isGenerated) else {
            throw StorageError(
                .unsupportedFormat, "\(column.name) is a generated column, which this version doesn't know.",
                remedy: "Open the store with the version of StorageKit that wrote it.")
        }
        return column
    }

    /// The ids of users' entities and columns; those of the store's own entities aren't in the catalog.
    private static let ids = Int64(CatalogEntity.lastReservedId) + 1...Limits.catalogIds.upperBound

    /// The rows of `storage_catalog` that describe an entity and its columns, by id.
    static func rows(of entity: CatalogEntity) -> [UInt32: CatalogRow] {
        var rows = [entity.id: CatalogRow(entity)]
        for column in entity.columns { rows[column.id] = CatalogRow(column, of: entity.id) }
        return rows
    }

    /// Statements as the catalog stores them: a JSON array, because every character that could separate them may occur in SQL.
    package static func text(of statements: [String]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        // Strings can always be encoded.
        return (try? encoder.encode(statements)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }

    private static func statements(_ text: String) throws -> [String] {
        do {
            return try JSONDecoder().decode([String].self, from: Data(text.utf8))
        } catch {
            throw StorageError.corruptLog(
                "the catalog holds \"\(text.prefix(80))\" where a list of statements is expected")
        }
    }
}

extension CatalogEntity {
    /// The entity, if its key has exactly one column for each ordinal: change capture fills an array by them.
    fileprivate func checked() throws -> CatalogEntity {
        let ordinals = key.map(\.keyOrdinal)
        guard isDropped || !ordinals.isEmpty, ordinals == Array(0..<ordinals.count).map({ $0 + 1 }) else {
            throw StorageError.corruptLog("the catalog says that the key of \"\(name)\" has the ordinals \(ordinals)")
        }
        return self
    }
}
