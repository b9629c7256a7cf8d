internal import CSQLite
internal import Foundation
internal import StorageCore
internal import StorageEntities
internal import StorageKit
internal import StorageLog

/// The keys that a hub's ids are made of: each id is the key of one row at most, and each row has one id.
///
/// SQLite finds the row 1 by the text `01` in a column for numbers, and `Anna` by `ANNA` where texts are compared without
/// case; a column without a type has a row 5 beside a row `5`. Such keys would be several documents for one row, or
/// the other way round.
private enum HubIds {
    case uuids, integers, texts

    /// - Parameter isStrict: Whether the column rejects values of other types.
    /// - Returns: nil for a column whose values aren't all ids.
    init?(_ key: CatalogColumn, isStrict: Bool) {
        if key.coding == "uuid" {
            self = .uuids
        } else if key.affinity == .integer {
            // SQLite makes this type the rowid, which is an integer. A column of another one, as INT or BIGINT, may hold texts.
            guard isStrict || key.type.lowercasedASCII == "integer" else { return nil }
            self = .integers
        } else {
            // Keys of imported histories are texts, whatever the column could hold.
            guard key.isImported || key.affinity == .text, key.collation.uppercased() == CatalogColumn.binary else {
                return nil
            }
            self = .texts
        }
    }

    /// The key of a document; nil for an id that no row can have. Each key has one id: two ids never refer to one row.
    func key(of id: String) -> StorageValue? {
        guard !id.utf8.contains(0) else { return nil }
        switch self {
        case .uuids:
            guard let uuid = UUID(uuidString: id), uuid.uuidString.utf8.elementsEqual(id.utf8) else { return nil }
            return .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) })
        case .integers: return Int64(id).flatMap { String($0) == id ? .integer($0) : nil }
        case .texts: return .text(id)
        }
    }

    /// What an id that has no key isn't.
    var expected: String {
        switch self {
        case .uuids: "UUIDs in upper case, with hyphens"
        case .integers: "integers in decimal, without leading zeros"
        case .texts: "texts without the character NUL"
        }
    }
}

/// An entity's table as a hub reads and writes it: rows as the fields of JSON documents, their keys as ids.
///
/// An entity whose rows were imported from JSON accepts unknown fields as new columns; any other one has only the
/// columns that it declares.
struct HubEntityTable: Sendable {
    let entity: CatalogEntity
    let key: CatalogColumn
    private let ids: HubIds
    /// The columns except the key.
    let columns: [CatalogColumn]
    /// The key and ``columns``: what conditions refer to.
    let comparedColumns: [CatalogColumn]
    private let indexes: [String: Int]

    /// A row: its key, and its values in the order of ``columns``.
    struct Row: Sendable, Equatable {
        let key: StorageValue
        var values: [StorageValue]
    }

    /// - Returns: nil for an entity that isn't a collection, or has an ``obstacle(of:for:)``.
    init?(_ entity: CatalogEntity) {
        guard entity.key.count == 1, let key = entity.key.first, !entity.isReserved, !entity.isDropped,
            let ids = HubIds(key, isStrict: entity.isStrict)
        else { return nil }
        self.entity = entity
        self.key = key
        self.ids = ids
        columns = entity.live.filter { $0.keyOrdinal == 0 }
        comparedColumns = [key] + columns
        indexes = Dictionary(columns.enumerated().map { ($1.name, $0) }) { first, _ in first }
    }

    var name: String { entity.name }
    /// Whether fields may become new columns.
    var isOpen: Bool { key.isImported }
    /// Whether the id is one of a document's fields, as `id`.
    private var showsKey: Bool { !key.isImported || key.name == "id" }

    func index(of column: String) -> Int? { indexes[column] }

    /// A row as conditions see it, in the order of ``comparedColumns``.
    func compared(_ row: Row) -> [StorageValue] {
        var values = [key.compared(row.key)]
        values.reserveCapacity(comparedColumns.count)
        for (column, value) in zip(columns, row.values) { values.append(column.compared(value)) }
        return values
    }

    /// The columns for an evaluator of conditions.
    var evaluatedColumns: [EvaluatedColumn] { comparedColumns.map(\.evaluated) }

    /// - Throws: `invalid-name` if there is no such column.
    func column(_ column: String) throws -> CatalogColumn {
        guard let found = comparedColumns.first(where: { $0.name == column }) else {
            throw StorageError(.invalidName, "There is no column \"\(column)\".", remedy: "Name a column of \(name).")
        }
        return found
    }
}

// MARK: Ids

extension HubEntityTable {
    /// Why an entity's rows can't be documents of a collection, or none of them can have an id, for the client; nil if they
    /// can, or if there is no such collection.
    static func obstacle(of entity: CatalogEntity, for id: String? = nil) -> String? {
        guard !entity.isReserved, !entity.isDropped else { return nil }
        let key = entity.key.map { "\"\($0.name)\"" }.joined(separator: ", ")
        guard entity.key.count == 1, let column = entity.key.first else {
            return "The collection \"\(entity.name)\" can't be served: an id is one value, and its key is \(key)."
        }
        guard let ids = HubIds(column, isStrict: entity.isStrict) else {
            return
                "The collection \"\(entity.name)\" can't be served, because ids don't identify its rows: its key \(key) must be an INTEGER PRIMARY KEY, a TEXT that is compared byte by byte, or a UUID."
        }
        guard let id, ids.key(of: id) == nil else { return nil }
        return "No document of \"\(entity.name)\" has such an id: its ids are \(ids.expected)."
    }

    /// The key of a document; nil for an id that no row can have.
    func key(of id: String) -> StorageValue? { ids.key(of: id) }

    /// The document id for a row's key, from which ``key(of:)`` makes the same key; nil if it has none.
    func id(of key: StorageValue) -> String? {
        switch (ids, key) {
        case (.uuids, .blob(let bytes)) where bytes.count == 16: Self.uuid(bytes).uuidString
        case (.integers, .integer(let number)): String(number)
        case (.texts, .text(let text)): text
        default: nil
        }
    }

    static func uuid(_ bytes: Data) -> UUID {
        var uuid = UUID().uuid
        withUnsafeMutableBytes(of: &uuid) { target in _ = bytes.copyBytes(to: target) }
        return UUID(uuid: uuid)
    }
}

// MARK: Fields

extension HubEntityTable {
    /// A row as a document.
    func fields(of row: Row) -> DocumentFields {
        var fields: [String: String] = [:]
        for (column, value) in zip(columns, row.values) {
            if let json = column.json(of: value) { fields[column.name] = json }
        }
        if showsKey, let json = key.json(of: row.key) { fields[key.name] = json }
        return DocumentFields(fields)
    }

    /// Applies fields to a row.
    ///
    /// JSON doesn't express every value exactly, so a client that sends back what it has read must change nothing: a field that
    /// is given as the row shows it keeps its value, and so does one that the row can't show, if it isn't given.
    ///
    /// - Parameters:
    ///   - fields: JSON texts by name; null for removed fields.
    ///   - old: The row to change; nil for a new row.
    ///   - isPatch: Whether other fields are kept; if not, they are removed.
    /// - Throws: ``HubError/invalid(_:)`` for a field without a column, a value that the column doesn't accept, and an
    ///   id that isn't the document's.
    func row(_ key: StorageValue, _ fields: [String: String], over old: Row?, isPatch: Bool) throws -> Row {
        var row = Row(key: key, values: columns.map { _ in .null })
        if let old { row.values = old.values.map { isPatch || $0.isInexpressible ? $0 : .null } }
        for (name, json) in fields {
            if showsKey, name == self.key.name {
                guard json == DocumentFields.null || self.key.json(of: key) == json || isId(json, of: key) else {
                    throw HubError.invalid("The field \"\(name)\" isn't the document's id.")
                }
            } else if let index = indexes[name] {
                let column = columns[index]
                // Fields are named by `String`s, which compare two spellings of a letter as equal.
                guard column.name.utf8.elementsEqual(name.utf8) else {
                    throw HubError.invalid(
                        "The field \"\(name)\" exists already in \"\(self.name)\", in another Unicode spelling.")
                }
                if let old, column.shows(old.values[index], as: json) {
                    row.values[index] = old.values[index]
                } else {
                    row.values[index] = try column.value(ofJSON: json, isTyped: entity.isCreatedForRecord)
                }
            } else if json != DocumentFields.null {
                throw HubError.invalid("There is no field \"\(name)\".")
            }
        }
        return row
    }

    private func isId(_ json: String, of key: StorageValue) -> Bool {
        (try? _StorageJSON.value(String.self, of: .text(json))).map { self.key(of: $0) == key } ?? false
    }
}

// MARK: Rows

extension HubEntityTable {
    private var list: String { ([key] + columns).map { quoted($0.stored) }.joined(separator: ", ") }

    /// Selects the columns of ``row(_:)``: first `_position`, then the row.
    var select: String { "SELECT _position, \(list) FROM \(quoted(entity.stored))" }

    func row(_ statement: PreparedStatement) -> (position: Int64, row: Row) {
        let values = (0...columns.count).map { ExactValue(statement, column: Int32($0 + 1)).value }
        return (statement.integer(0), Row(key: values[0], values: Array(values.dropFirst())))
    }

    /// The current row, with the position of its last event.
    func row(_ key: StorageValue, in database: Connection) throws -> (position: Int64, row: Row)? {
        let statement = try PreparedStatement(database, "\(select) WHERE \(quoted(self.key.stored)) = ?1")
        ExactValue(key).bind(to: statement, at: 1)
        return try statement.step() ? row(statement) : nil
    }

    func row(_ key: StorageValue, _ image: RowImage) -> Row {
        Row(key: key, values: columns.map { image.value(of: $0).value })
    }

    /// Writes a row as part of the current commit; a row that hasn't changed isn't touched.
    func write(_ row: Row, over old: Row?, with writer: LogWriter) throws {
        guard let old else { return try insert(row, with: writer) }
        var row = row
        // As in a new row; an UPDATE has no word for the default.
        for index in columns.indices where columns[index].required && row.values[index] == .null {
            row.values[index] = try defaultValue(of: columns[index], in: writer.database)
        }
        let changed = columns.indices.filter { ExactValue(row.values[$0]) != ExactValue(old.values[$0]) }
        guard !changed.isEmpty else { return }
        let assignments = changed.map { "\(quoted(columns[$0].stored)) = ?" } + ["_position = ?"]
        try execute(
            "UPDATE \(quoted(entity.stored)) SET \(assignments.joined(separator: ", ")) WHERE \(quoted(key.stored)) = ?",
            changed.map { row.values[$0] } + [.integer(writer.nextPosition), row.key], with: writer)
    }

    /// The value of a column's DEFAULT clause; NULL if it has none.
    private func defaultValue(of column: CatalogColumn, in database: Connection) throws -> StorageValue {
        let select = try PreparedStatement(
            database,
            "SELECT dflt_value, type FROM temp.pragma_table_info(?1) WHERE name = ?2 COLLATE NOCASE AND dflt_value NOTNULL"
        )
        select.bind(text: entity.stored, at: 1)
        select.bind(text: column.stored, at: 2)
        guard try select.step() else { return .null }
        return try DefaultValues().value(
            of: select.string(0), type: select.string(1), isStrict: entity.isStrict, isAdded: false)
    }

    private func insert(_ row: Row, with writer: LogWriter) throws {
        // A missing column gets its table's default.
        let given = columns.indices.filter { row.values[$0] != .null || !columns[$0].required }
        let names = ["_position", quoted(key.stored)] + given.map { quoted(columns[$0].stored) }
        let placeholders = names.map { _ in "?" }.joined(separator: ", ")
        try execute(
            "INSERT INTO \(quoted(entity.stored))(\(names.joined(separator: ", "))) VALUES (\(placeholders))",
            [.integer(writer.nextPosition), row.key] + given.map { row.values[$0] }, with: writer)
    }

    func delete(_ key: StorageValue, with writer: LogWriter) throws -> Bool {
        try changes(
            of: "DELETE FROM \(quoted(entity.stored)) WHERE \(quoted(self.key.stored)) = ?1", [key], with: writer) > 0
    }

    /// Runs a statement that changes one row.
    ///
    /// - Throws: ``HubError/invalid(_:)`` if a trigger has dropped the change.
    private func execute(_ sql: String, _ values: [StorageValue], with writer: LogWriter) throws {
        guard try changes(of: sql, values, with: writer) == 1 else {
            throw HubError.invalid("A trigger of the schema ignores the write. Send values that it accepts.")
        }
    }

    /// The number of rows that a statement itself has changed.
    private func changes(of sql: String, _ values: [StorageValue], with writer: LogWriter) throws -> Int {
        let statement = try writer.statement(sql)
        for (index, value) in values.enumerated() { ExactValue(value).bind(to: statement, at: Int32(index + 1)) }
        do {
            try statement.execute()
        } catch let error as StorageError where [.database, .invalidValue].contains(error.code) {
            // Unless the schema is the reason, the statement still compiles, and a function of a trigger or a constraint, as json(),
            // has refused the row's values.
            _ = try PreparedStatement(writer.database, sql)
            throw StorageError(.conflict, error.message, remedy: error.remedy, cause: error)
        }
        return statement.changes
    }
}

// MARK: Columns

extension HubEntityTable {
    /// Creates an entity for the first document of its name, or adds columns for unknown fields, as part of the current
    /// commit.
    ///
    /// - Throws: ``HubError/invalid(_:)`` if an entity that declares its columns doesn't have such a field.
    static func declare(
        _ name: String, id: String, fields: [String: String], with writer: LogWriter
    ) throws {
        let known = writer.catalog.entity(named: name)
        let table = known.flatMap(HubEntityTable.init)
        if let known, table == nil { throw HubError(unserved: known) }
        // Collections are named by `String`s, which compare two spellings of a letter as equal.
        if known == nil, writer.catalog.live.contains(where: { $0.name == name }) {
            throw HubError.invalid("A collection with this name exists already, in another Unicode spelling.")
        }
        let ownId = fields["id"]
        let repeatsId = ownId.map { (try? _StorageJSON.value(String.self, of: .text($0))) == id } ?? true
        let keyName = table?.key.name ?? (repeatsId ? "id" : "_id")
        let fresh = fields.filter { field in
            field.value != DocumentFields.null && field.key != keyName && table?.index(of: field.key) == nil
        }
        if let table, fresh.isEmpty || !table.isOpen { return }
        var taken = Set(
            (known?.live ?? []).map(\.stored.lowercasedASCII) + ["_position", "rowid", keyName.lowercasedASCII])
        let columns = fresh.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { field in
            EntityDefinition.Column(
                ColumnSchema(name: field, type: ImportedKind(json: fields[field] ?? "").rawValue),
                stored: Catalog.storedColumnName(of: field, besides: &taken), coding: ImportedCoding.column)
        }
        let key = EntityDefinition.Column(
            ColumnSchema(name: keyName, type: "TEXT", notNull: true, primaryKey: true),
            stored: table?.key.stored ?? keyName,
            coding: table?.key.coding ?? (keyName == "id" ? ImportedCoding.keyInRow : ImportedCoding.key))
        try writer.declare(
            EntityDefinition(
                name: name, stored: known?.stored ?? writer.catalog.storedTableName(of: name), columns: [key] + columns)
        )
    }
}
