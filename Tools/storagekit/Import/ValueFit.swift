import CSQLite
import Foundation
import StorageKit

/// Decides whether a column of a table that wasn't created by an import can store a line's value exactly.
///
/// SQLite converts values to a column's affinity, which could change the line's value, so conversions are detected before: values of the column's
/// preferred storage class fit, and others are tested with SQLite itself, in an in-memory table with a column for each affinity.
///
/// Not `Sendable`: it is used on the writer's queue for the length of an import.
final class ValueFit {
    /// A value as it is bound. Slices are valid as long as the line.
    enum Form {
        case null
        case integer(Int64)
        case real(Double)
        case text(ByteSlice)
        case blob(ByteSlice)
        case uuid(UUID)
    }

    private var scratch: Connection?

    deinit { scratch?.close() }

    /// - Throws: `InputError` with the value that the column would store instead.
    func form(of value: HistoryValue, in column: CatalogColumn, _ operation: HistoryOperation) throws -> Form {
        switch value {
        case .null: return .null
        case .bool(let value):
            guard column.type == "BOOLEAN" else {
                throw misfit(column, operation, "stores no true and false", "Write \(value ? 1 : 0).")
            }
            return .integer(value ? 1 : 0)
        case .integer(let number):
            if column.type == "BOOLEAN", number == 0 || number == 1 {
                throw misfit(column, operation, "reads \(number) as \(number == 1)", "Write \(number == 1).")
            }
            return try fitting(.integer(number), column, operation, isPlain: column.affinity.storesIntegers)
        case .real(let number):
            let isPlain = column.affinity == .blob || column.affinity == .real && number.bitPattern != 1 << 63
            return try fitting(.real(number), column, operation, isPlain: isPlain)
        case .text(let text):
            if column.coding == ColumnSchema.uuid, let uuid = UUID(uuidString: text.string) { return .uuid(uuid) }
            return try fitting(
                .text(text), column, operation, isPlain: column.affinity == .text || column.affinity == .blob)
        // No affinity converts a blob.
        case .blob(let bytes): return .blob(bytes)
        case .json:
            throw misfit(
                column, operation, "stores no arrays and objects", "Write its JSON as a text, in quotes.")
        }
    }

    private func fitting(
        _ form: Form, _ column: CatalogColumn, _ operation: HistoryOperation, isPlain: Bool
    ) throws -> Form {
        if isPlain { return form }
        let given = ExactValue(form)
        let stored = try self.stored(given, in: column.affinity)
        guard stored != given else { return form }
        throw misfit(
            column, operation, "would store \(Self.text(given)) as \(Self.text(stored))",
            "Write \(Self.text(stored)) if that is meant; nothing is converted.")
    }

    private static func text(_ value: ExactValue) -> String {
        var json = JSONWriter()
        json.value(value.value)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// Returns whether a column would store the value unchanged.
    func fits(_ value: ExactValue, _ column: CatalogColumn) throws -> Bool {
        try stored(value, in: column.affinity) == value
    }

    private func misfit(
        _ column: CatalogColumn, _ operation: HistoryOperation, _ problem: String, _ remedy: String
    ) -> InputError {
        let type = column.type.isEmpty ? "" : " \(column.type)"
        return InputError(
            offset: operation.offset(ofColumn: column.name), problem: "the column \(column.name)\(type) \(problem)",
            remedy: remedy)
    }

    private func stored(_ value: ExactValue, in affinity: ColumnAffinity) throws -> ExactValue {
        let database = try opened()
        let name = affinity.rawValue.lowercased()
        // RETURNING would report the value before the column's conversion.
        let update = try PreparedStatement(database, "UPDATE held SET \"\(name)\" = ?1")
        value.bind(to: update, at: 1)
        try update.execute()
        let select = try PreparedStatement(database, "SELECT \"\(name)\" FROM held")
        return try select.step() ? ExactValue(select, column: 0) : .null
    }

    private func opened() throws -> Connection {
        if let scratch { return scratch }
        let database = try Connection.inMemory()
        let columns = ColumnAffinity.allCases.map { "\"\($0.rawValue.lowercased())\" \($0.rawValue)" }
        try database.execute(
            "CREATE TABLE held(\(columns.joined(separator: ", "))); INSERT INTO held DEFAULT VALUES")
        scratch = database
        return database
    }
}

extension ColumnAffinity {
    fileprivate var storesIntegers: Bool { self == .integer || self == .numeric || self == .blob }
}

extension ValueFit.Form {
    /// Binds the value to an unbound parameter.
    func bind(to statement: PreparedStatement, at index: Int32) {
        switch self {
        case .null: break
        case .integer(let value): statement.bind(value, at: index)
        case .real(let value): sqlite3_bind_double(statement.pointer, index, value)
        case .text(let bytes): statement.bind(borrowedText: bytes, at: index)
        case .blob(let bytes): statement.bind(borrowedBlob: bytes, at: index)
        case .uuid(let uuid): ExactValue(uuid.storageValue).bind(to: statement, at: index)
        }
    }
}

extension ExactValue {
    /// Copies the value.
    init(_ form: ValueFit.Form) {
        switch form {
        case .null: self = .null
        case .integer(let value): self = .integer(value)
        case .real(let value): self = .real(value.bitPattern)
        case .text(let bytes): self = .text(Array(bytes))
        case .blob(let bytes): self = .blob(Array(bytes))
        case .uuid(let uuid): self = ExactValue(uuid.storageValue)
        }
    }
}
