import CSQLite
import Foundation
import StorageKit

/// A table with declared columns during an import: one that was adopted, or that a program declared.
///
/// - An operation's row is found by its key, converted to the types of the key's columns: `"id":"42"` is the number 42 in an INTEGER column. If the
///   row contains the key's columns, they must agree with the id.
/// - A value is stored exactly as in the line, or the line is refused (`ValueFit`).
/// - Unknown columns are refused, or added on request.
/// - A violated constraint makes the line a bad one, whatever conflict clause the schema has. Triggers and foreign key actions are off, because a
///   history contains their changes as separate operations; `ReferenceCheck` checks the foreign keys at the end of each commit.
///
/// Not `Sendable`: it is used on the writer's queue for the length of an import.
final class DeclaredTable: ImportTarget {
    let name: String
    let nameBytes: [UInt8]
    let addsColumns: Bool
    let writer: LogWriter
    private let fit: ValueFit
    private let references: ReferenceCheck
    private(set) var entity: CatalogEntity
    private var columns: [CatalogColumn] = []
    private var places = ColumnPlaces()
    /// The indexes of the key's parts in rows with the names of the last one; nil if one is missing.
    private var keyOrder: [Int]?
    private var forms: [ValueFit.Form] = []

    private var insert: PreparedStatement?
    private var update: PreparedStatement?
    private var delete: PreparedStatement?
    private var find: PreparedStatement?

    var nameInSQL: String? { entity.stored == entity.name ? nil : entity.stored }
    var columnNames: [String] { columns.map { $0.type.isEmpty ? $0.name : "\($0.name) \($0.type)" } }
    var deviants: [String: Int] { [:] }

    init(
        _ entity: CatalogEntity, writer: LogWriter, fit: ValueFit, references: ReferenceCheck, addsColumns: Bool
    ) {
        self.entity = entity
        name = entity.name
        nameBytes = Array(entity.name.utf8)
        self.writer = writer
        self.fit = fit
        self.references = references
        self.addsColumns = addsColumns
        takeColumns()
    }

    /// The key first, as its statements bind them.
    private func takeColumns() {
        columns = entity.key + entity.live.filter { $0.keyOrdinal == 0 }
        (insert, update, delete, find) = (nil, nil, nil, nil)
        places = ColumnPlaces()
    }

    func apply(_ operation: HistoryOperation) throws {
        do {
            switch operation.kind {
            case .insert: try runInsert(operation)
            case .update, .delete: try runChange(operation)
            }
        } catch let error as StorageError where [.conflict, .database].contains(error.code) {
            throw refusal(error, operation)
        }
    }
}

// MARK: Rows

extension DeclaredTable {
    private func runInsert(_ operation: HistoryOperation) throws {
        let row = try takeRow(of: operation)
        let key = try row ?? keys(of: operation)[0]
        let statement = try insertStatement()
        statement.clearBindings()
        for (index, value) in key.enumerated() { value.bind(to: statement, at: Int32(index + 1)) }
        bindValues(to: statement, after: 0)
        statement.bind(writer.nextPosition, at: Int32(columns.count + 1))
        do {
            try statement.execute()
        } catch let error as StorageError where error.code == .conflict {
            guard try isThere(key) else { throw error }
            throw refusal(operation, "there already")
        }
        try references.rowWasWritten(entity, key, operation)
    }

    private func runChange(_ operation: HistoryOperation) throws {
        let row = operation.kind == .update ? try takeRow(of: operation) : nil
        var found = try row.map { [$0] } ?? keys(of: operation)
        if found.count > 1 {
            found = try found.filter(isThere)
            guard found.count < 2 else {
                throw InputError(
                    offset: 0,
                    problem:
                        "the id \(operation.id.string) stands for several rows of \"\(name)\", such as a number and a text",
                    remedy: "Correct the id, or skip its commit with --skip-invalid.")
            }
        }
        guard let key = found.first else { throw refusal(operation, "not there") }
        try references.rowWillChange(entity, key, operation)
        let statement = try operation.kind == .update ? updateStatement() : deleteStatement()
        statement.clearBindings()
        for (index, value) in key.enumerated() { value.bind(to: statement, at: Int32(index + 1)) }
        if operation.kind == .update {
            bindValues(to: statement, after: 0)
            statement.bind(writer.nextPosition, at: Int32(columns.count + 1))
        }
        try statement.execute()
        guard statement.changes > 0 else { throw refusal(operation, "not there") }
        if operation.kind == .update { try references.rowWasWritten(entity, key, operation) }
    }

    /// Binds the values that aren't part of the key. Columns that a row omits are NULL.
    private func bindValues(to statement: PreparedStatement, after offset: Int32) {
        let keyCount = entity.key.count
        for (column, form) in zip(places.columns, forms) where column >= keyCount {
            form.bind(to: statement, at: offset + Int32(column + 1))
        }
    }

    /// Finds the columns of a row and their values.
    ///
    /// - Returns: The key, if the row contains all of it.
    private func takeRow(of operation: HistoryOperation) throws -> [ExactValue]? {
        if !places.fit(operation.columns) { try place(operation) }
        forms.removeAll(keepingCapacity: true)
        for (column, given) in zip(places.columns, operation.columns) {
            forms.append(column < 0 ? .null : try fit.form(of: given.value, in: columns[column], operation))
        }
        guard let keyOrder else { return nil }
        let key = keyOrder.map { ExactValue(forms[$0]) }
        guard !key.contains(.null) else { return nil }
        let text = KeyText.text(of: key.map(\.value), in: entity)
        guard operation.id.equals(text: text) else {
            throw InputError(
                offset: operation.offset(ofColumn: columns[0].name),
                problem: "the row's key is \(text), and its id \(operation.id.string)",
                remedy: "Make both the same: an operation never changes a key. A changed key is a delete and an insert."
            )
        }
        return key
    }

    private func place(_ operation: HistoryOperation) throws {
        let unknown = operation.columns.filter { given in
            !given.value.isNull && !columns.contains { given.name.equals(text: $0.name) }
        }
        if let first = unknown.first {
            guard addsColumns else { throw missing(first.name.string, operation) }
            try add(unknown, operation)
        }
        places.beginRow()
        for given in operation.columns {
            places.append(columns.firstIndex { given.name.equals(text: $0.name) } ?? -1, named: given.name)
        }
        let order = entity.key.indices.map { places.columns.firstIndex(of: $0) }
        keyOrder = order.contains(nil) ? nil : order.compactMap { $0 }
    }

    private func add(_ unknown: [HistoryOperation.Column], _ operation: HistoryOperation) throws {
        for column in unknown {
            guard let kind = ImportedKind(column.value), kind != .json else {
                throw InputError(
                    offset: operation.offset(ofColumn: column.name.string),
                    problem: "the column \(column.name.string) would be added, and holds an array or object",
                    remedy: "Write its JSON as a text, in quotes.")
            }
            let definition = "\(quoted(column.name.string)) \(kind.rawValue)"
            try writer.statement("ALTER TABLE \(quoted(entity.stored)) ADD COLUMN \(definition)").execute()
        }
        try writer.schemaChanged()
        entity = writer.catalog.entity(id: entity.id) ?? entity
        takeColumns()
    }

    private func missing(_ column: String, _ operation: HistoryOperation) -> InputError {
        let similar = Suggestions.nearest(to: column, among: columns.map(\.name))
        let meant = similar.isEmpty ? "" : "Did you mean \(similar.joined(separator: ", "))? "
        return InputError(
            offset: operation.offset(ofColumn: column),
            problem: "the table \"\(name)\" has no column \(column)",
            remedy: "\(meant)Add it with --add-columns, or leave it out.")
    }
}

// MARK: Keys

extension DeclaredTable {
    /// Returns the keys that the operation's id can mean, likeliest first, as the columns store them.
    ///
    /// - Throws: `InputError` if there is none.
    private func keys(of operation: HistoryOperation) throws -> [[ExactValue]] {
        let (id, key) = (operation.id.string, entity.key)
        let parts = key.count == 1 ? [id] : KeyText.parts(of: id)
        guard parts.count == key.count else {
            throw InputError(
                offset: 0,
                problem: "the id \(id) has \(parts.count) parts, and the key of \"\(name)\" \(key.count): "
                    + key.map(\.name).joined(separator: ", "),
                remedy: "Separate the parts by commas; a comma inside of one is %2C.")
        }
        var keys: [[ExactValue]] = [[]]
        for (part, column) in zip(parts, key) {
            // Only the canonical spelling of a number is accepted, so that an export writes the same id.
            let values = try KeyText.values(part, of: column).filter { value in
                try ValueText.id(value, coding: column.coding) == part && fit.fits(ExactValue(value), column)
            }
            keys = keys.flatMap { key in values.map { key + [ExactValue($0)] } }
        }
        guard !keys.isEmpty else {
            throw InputError(
                offset: 0,
                problem: "the id \(id) can't be a key of \"\(name)\": "
                    + key.map { "\($0.name) \($0.type)" }.joined(separator: ", "),
                remedy: "Write the id as export does: numbers without leading zeros, UUIDs in capitals.")
        }
        return keys
    }

    private func isThere(_ key: [ExactValue]) throws -> Bool {
        let statement =
            try find
            ?? writer.statement(
                "SELECT 1 FROM \(quoted(entity.stored)) WHERE \(RowLookup.condition(of: entity))")
        find = statement
        for (index, value) in key.enumerated() { value.bind(to: statement, at: Int32(index + 1)) }
        defer { statement.reset() }
        return try statement.step()
    }
}

// MARK: Statements

extension DeclaredTable {
    // OR ABORT, because otherwise a conflict clause of the schema could delete other rows, or skip this one.

    private func insertStatement() throws -> PreparedStatement {
        if let insert { return insert }
        let names = columns.map { quoted($0.stored) } + ["_position"]
        let placeholders = names.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let statement = try writer.statement(
            "INSERT OR ABORT INTO \(quoted(entity.stored))(\(names.joined(separator: ", "))) VALUES (\(placeholders))")
        insert = statement
        return statement
    }

    private func updateStatement() throws -> PreparedStatement {
        if let update { return update }
        let assignments = columns.enumerated().filter { $0.element.keyOrdinal == 0 }.map { index, column in
            "\(quoted(column.stored)) = ?\(index + 1)"
        }
        let list = (assignments + ["_position = ?\(columns.count + 1)"]).joined(separator: ", ")
        let statement = try writer.statement(
            "UPDATE OR ABORT \(quoted(entity.stored)) SET \(list) WHERE \(RowLookup.condition(of: entity))")
        update = statement
        return statement
    }

    private func deleteStatement() throws -> PreparedStatement {
        if let delete { return delete }
        let statement = try writer.statement(
            "DELETE FROM \(quoted(entity.stored)) WHERE \(RowLookup.condition(of: entity))")
        delete = statement
        return statement
    }

    private func refusal(_ operation: HistoryOperation, _ state: String) -> InputError {
        InputError(
            offset: 0,
            problem: "the row \(operation.id.string) of \"\(name)\" is \(state), so it can't be \(operation.kind.past)",
            remedy: "Correct the operation, or skip its commit with --skip-invalid.")
    }

    /// Returns SQLite's error for a row, at the column that it names.
    private func refusal(_ error: StorageError, _ operation: HistoryOperation) -> InputError {
        // The message follows the statement, which the user hasn't typed.
        let colon = error.message.range(of: "`: ", options: .backwards) ?? error.message.range(of: ": ")
        let start = colon?.upperBound ?? error.message.startIndex
        var message = String(error.message[start...])
        if message.hasSuffix(".") { message.removeLast() }
        let column = columns.first { message.hasSuffix("\(entity.stored).\($0.stored)") }
        return InputError(
            offset: column.map { operation.offset(ofColumn: $0.name) } ?? 0,
            problem: "the row \(operation.id.string) of \"\(name)\" can't be \(operation.kind.past): \(message)",
            remedy: "Correct the operation, or skip its commit with --skip-invalid.")
    }
}
