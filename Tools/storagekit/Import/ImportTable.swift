import CSQLite
import Foundation
import StorageKit

/// A table that is created by imports: its columns, and the statements that write its rows.
///
/// Not `Sendable`: it is used on the writer's queue for the length of an import.
final class ImportTable: ImportTarget {
    private struct Column {
        let name: [UInt8]
        let kind: ImportedKind
        let stored: String
        /// Whether a number is stored as a number; a text column would convert it to text.
        let storesNumbers: Bool
    }

    let name: String
    let nameBytes: [UInt8]
    private let writer: LogWriter
    private var stored: String
    private var keyColumn: String
    /// Whether the key column is named `_id`, because rows have their own `id`, or may have.
    private var keyCoding: String
    private var columns: [Column] = []
    private var indexOfColumn: [[UInt8]: Int] = [:]
    private var places = ColumnPlaces()
    /// Names that are no longer available for columns, case-folded.
    private var taken: Set<String> = ["_position", "rowid"]
    /// Values that had to be kept as JSON because their column's kind is another, by column.
    private(set) var deviants: [String: Int] = [:]

    private var insert: PreparedStatement?
    private var update: PreparedStatement?
    private var delete: PreparedStatement?
    /// Texts that were created for binding; kept until the statement has run.
    private var scratch: [[UInt8]] = []

    /// The columns' names for printing; names that SQL doesn't allow differ there.
    var columnNames: [String] {
        columns.map { column in
            let name = String(decoding: column.name, as: UTF8.self)
            return "\(name) \(column.kind.rawValue)" + (column.stored == name ? "" : " (in SQL \(column.stored))")
        }
    }
    /// The name in queries, if it differs; otherwise nil.
    var nameInSQL: String? { stored == name ? nil : stored }

    /// Opens a table that an earlier import has created; nil if it was created otherwise.
    init?(_ entity: CatalogEntity, writer: LogWriter) {
        guard let key = entity.key.first, entity.key.count == 1, key.coding.hasPrefix(ImportedCoding.key) else {
            return nil
        }
        name = entity.name
        nameBytes = Array(entity.name.utf8)
        self.writer = writer
        stored = entity.stored
        keyColumn = key.stored
        keyCoding = key.coding
        taken.insert(key.stored.lowercasedASCII)
        for column in entity.live where column.keyOrdinal == 0 {
            taken.insert(column.stored.lowercasedASCII)
            add(
                Column(
                    name: Array(column.name.utf8), kind: ImportedKind(rawValue: column.type) ?? .text,
                    stored: column.stored, storesNumbers: column.storesNumbers))
        }
    }

    /// Creates a table for the first row with its name, with the columns of that row.
    init(creatingFor operation: HistoryOperation, keyNamed keyName: String?, writer: LogWriter) throws {
        name = operation.table.string
        nameBytes = Array(operation.table)
        self.writer = writer
        let ownId = operation.columns.first { $0.name.equals("id") }
        let repeatsKey = ownId.map { Self.isText($0.value, equalTo: operation.id) } ?? false
        keyColumn = keyName ?? (ownId != nil && !repeatsKey ? "_id" : "id")
        keyCoding = repeatsKey && keyColumn == "id" ? ImportedCoding.keyInRow : ImportedCoding.key
        stored = writer.catalog.storedTableName(of: name)
        taken.insert(keyColumn.lowercasedASCII)
        try addColumns(of: operation)
    }

    private static func isText(_ value: HistoryValue, equalTo bytes: ByteSlice) -> Bool {
        guard case .text(let text) = value else { return false }
        return text.equals(bytes)
    }

    private func add(_ column: Column) {
        indexOfColumn[column.name] = columns.count
        columns.append(column)
        insert = nil
        update = nil
    }
}

// MARK: Rows

extension ImportTable {
    /// Applies an operation.
    ///
    /// - Throws: `CommandError` or ``StorageError`` if the row isn't in the state that the operation requires.
    func apply(_ operation: HistoryOperation) throws {
        defer { scratch.removeAll(keepingCapacity: true) }
        switch operation.kind {
        case .delete: try runDelete(operation)
        case .insert, .update:
            try findColumns(of: operation)
            let statement = try operation.kind == .insert ? insertStatement() : updateStatement()
            statement.clearBindings()
            let columns = columns
            for (columnIndex, column) in zip(places.columns, operation.columns) where columnIndex >= 0 {
                try bind(column.value, to: statement, columnIndex, of: columns, in: operation)
            }
            statement.bind(writer.nextPosition, at: Int32(columns.count + 1))
            statement.bind(borrowedText: operation.id, at: Int32(columns.count + 2))
            try run(statement, operation)
        }
    }

    private func run(_ statement: PreparedStatement, _ operation: HistoryOperation) throws {
        do {
            try statement.execute()
        } catch let error as StorageError where error.code == .conflict && operation.kind == .insert {
            throw refusal(operation, "there already")
        }
        if operation.kind != .insert, statement.changes == 0 { throw refusal(operation, "not there") }
    }

    private func runDelete(_ operation: HistoryOperation) throws {
        let statement =
            try delete
            ?? writer.statement(
                "DELETE FROM \(quoted(stored)) WHERE \(quoted(keyColumn)) = ?1")
        delete = statement
        statement.bind(borrowedText: operation.id, at: 1)
        try run(statement, operation)
    }

    private func refusal(_ operation: HistoryOperation, _ state: String) -> InputError {
        InputError(
            offset: 0,
            problem: "the row \(operation.id.string) of \"\(name)\" is \(state), so it can't be \(operation.kind.past)",
            remedy: "Correct the operation, or skip its commit with --skip-invalid.")
    }

    /// Finds the column of each value of the operation.
    private func findColumns(of operation: HistoryOperation) throws {
        if !places.fit(operation.columns) { try place(operation) }
        if let ownId = places.ownId {
            try checkOwnId(operation.columns[ownId].value, operation)
        } else if keyCoding == ImportedCoding.keyInRow {
            throw mixedIds()
        }
    }

    private func place(_ operation: HistoryOperation) throws {
        let mayHaveOwnId = keyColumn == "id"
        places.beginRow()
        for column in operation.columns {
            if mayHaveOwnId, column.name.equals("id") {
                places.appendOwnId(named: column.name)
            } else {
                places.append(try columnIndex(of: column, operation), named: column.name)
            }
        }
    }

    private func columnIndex(of column: HistoryOperation.Column, _ operation: HistoryOperation) throws -> Int {
        // Rows that omit columns have the others in the table's order.
        if let last = places.columns.last, last + 1 < columns.count, column.name.equals(columns[last + 1].name) {
            return last + 1
        }
        if let known = indexOfColumn[Array(column.name)] { return known }
        guard !column.value.isNull else { return -1 }
        try addColumns(of: operation)
        return indexOfColumn[Array(column.name)] ?? -1
    }

    /// Declares all missing columns of a row at once, because each schema change makes SQLite read the schema again.
    private func addColumns(of operation: HistoryOperation) throws {
        var fresh: [Column] = []
        for column in operation.columns where !(keyColumn == "id" && column.name.equals("id")) {
            let name = Array(column.name)
            guard indexOfColumn[name] == nil, let kind = ImportedKind(column.value) else { continue }
            let stored = Catalog.storedColumnName(of: column.name.string, besides: &taken)
            fresh.append(Column(name: name, kind: kind, stored: stored, storesNumbers: kind != .text))
        }
        let definitions = fresh.map { column in
            var definition = EntityDefinition.Column(
                ColumnSchema(name: String(decoding: column.name, as: UTF8.self), type: column.kind.rawValue),
                stored: column.stored, coding: ImportedCoding.column)
            definition.isText = column.kind == .text
            return definition
        }
        try writer.declare(EntityDefinition(name: name, stored: stored, columns: [keyDefinition] + definitions))
        for column in fresh { add(column) }
    }

    private var keyDefinition: EntityDefinition.Column {
        var key = EntityDefinition.Column(
            ColumnSchema(name: keyColumn, type: "TEXT", notNull: true, primaryKey: true), coding: keyCoding)
        key.isText = true
        return key
    }

    /// Checks a row's own `id` if the key column has that name: it must equal the key, as in the table's first rows.
    private func checkOwnId(_ value: HistoryValue, _ operation: HistoryOperation) throws {
        if value.isNull, keyCoding == ImportedCoding.key { return }
        guard keyCoding == ImportedCoding.keyInRow, Self.isText(value, equalTo: operation.id) else { throw mixedIds() }
    }

    private func mixedIds() -> InputError {
        InputError(
            offset: 0, problem: "only some rows of \"\(name)\" repeat their id as a column of their own",
            remedy: "Import into a new store with --key-column _id, which keeps the key apart from a column id.")
    }
}

// MARK: Values and statements

extension ImportTable {
    /// Binds a value to an unbound parameter.
    ///
    /// - Throws: `InputError` for a value that a column of blobs can't hold: its source would be a blob like the others.
    private func bind(
        _ value: HistoryValue, to statement: PreparedStatement, _ columnIndex: Int, of columns: [Column],
        in operation: HistoryOperation
    ) throws {
        // Copies two members instead of the column, which would retain two references.
        let (kind, storesNumbers) = (columns[columnIndex].kind, columns[columnIndex].storesNumbers)
        let index = Int32(columnIndex + 1)
        switch (value, kind) {
        // An unbound parameter is NULL.
        case (.null, _): break
        case (.bool(let value), .boolean): statement.bind(value ? 1 : 0, at: index)
        case (.integer(let value), let kind) where storesNumbers && (kind != .boolean || value < 0 || value > 1):
            statement.bind(value, at: index)
        case (.real(let value), _) where storesNumbers: sqlite3_bind_double(statement.pointer, index, value)
        case (.text(let value), let kind) where kind != .json: statement.bind(borrowedText: value, at: index)
        case (.json(let value), .json): statement.bind(borrowedText: value, at: index)
        case (.blob(let value), let kind) where kind != .json && !kind.isSource(value):
            statement.bind(borrowedBlob: value, at: index)
        case (_, .blob):
            let name = String(decoding: columns[columnIndex].name, as: UTF8.self)
            throw InputError(
                offset: operation.offset(ofColumn: name),
                problem: "the column \(name) begins with a blob, and holds no booleans, arrays or objects",
                remedy: "Write the value as a text, in quotes, or skip its commit with --skip-invalid.")
        default:
            var json = JSONWriter()
            json.source(of: value)
            if kind == .json {
                keep(json.bytes) { statement.bind(borrowedText: $0, at: index) }
            } else {
                deviants[String(decoding: columns[columnIndex].name, as: UTF8.self), default: 0] += 1
                keep(json.bytes) { statement.bind(borrowedBlob: $0, at: index) }
            }
        }
    }

    /// Binds a copy, because the bytes are valid during this call only.
    private func keep(_ bytes: [UInt8], _ bind: (UnsafeRawBufferPointer) -> Void) {
        scratch.append(bytes)
        // The array's storage doesn't move while `scratch` retains it.
        scratch[scratch.count - 1].withUnsafeBytes(bind)
    }

    private func insertStatement() throws -> PreparedStatement {
        if let insert { return insert }
        let names = columns.map { quoted($0.stored) } + ["_position", quoted(keyColumn)]
        let placeholders = names.map { _ in "?" }.joined(separator: ", ")
        let statement = try writer.statement(
            "INSERT INTO \(quoted(stored))(\(names.joined(separator: ", "))) VALUES (\(placeholders))")
        insert = statement
        return statement
    }

    private func updateStatement() throws -> PreparedStatement {
        if let update { return update }
        let assignments = (columns.map { quoted($0.stored) } + ["_position"]).map { "\($0) = ?" }
        let statement = try writer.statement(
            "UPDATE \(quoted(stored)) SET \(assignments.joined(separator: ", ")) WHERE \(quoted(keyColumn)) = ?")
        update = statement
        return statement
    }
}

extension HistoryOperation.Kind {
    /// As in "can't be …".
    var past: String {
        switch self {
        case .insert: "inserted"
        case .update: "updated"
        case .delete: "deleted"
        }
    }
}
