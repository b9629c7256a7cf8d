package import CSQLite
internal import Foundation
package import StorageCore

/// A prepared statement that is stepped without GRDB, for code in which every microsecond counts.
///
/// Not `Sendable`: it belongs to its connection's thread.
package final class PreparedStatement {
    package let pointer: OpaquePointer
    private let connection: Connection

    /// - Throws: ``StorageError`` with SQLite's message about the text.
    package init(_ connection: Connection, _ sql: String) throws {
        var pointer: OpaquePointer?
        let code = sqlite3_prepare_v3(connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
        guard code == SQLITE_OK, let pointer else { throw connection.error(code, sql: sql) }
        self.pointer = pointer
        self.connection = connection
    }

    deinit { sqlite3_finalize(pointer) }

    package var writer: RowWriter { RowWriter(statement: pointer) }
    package var row: RowReader { RowReader(statement: pointer) }

    /// Steps to the next row; false at the end. The statement must be reset afterwards.
    @discardableResult
    package func step() throws -> Bool {
        switch storage_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let error = connection.error(code)
            sqlite3_reset(pointer)
            throw error
        }
    }

    package func reset() { sqlite3_reset(pointer) }

    /// Runs the statement to its end with integers as parameters.
    package func run(_ parameters: Int64...) throws {
        for (index, value) in parameters.enumerated() { sqlite3_bind_int64(pointer, Int32(index + 1), value) }
        defer { sqlite3_reset(pointer) }
        while try step() {}
    }

    /// Runs the statement to its end with the bound parameters.
    package func execute() throws {
        defer { sqlite3_reset(pointer) }
        while try step() {}
    }

    package func bind(_ value: Int64, at index: Int32) { sqlite3_bind_int64(pointer, index, value) }

    package func bind(blob: [UInt8], at index: Int32) {
        _ = blob.withUnsafeBytes {
            storage_bind_blob(pointer, index, $0.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!, $0.count)
        }
    }

    package func bind(text: String, at index: Int32) { writer.bind(text, at: index) }

    /// Binds the first parameters, in their order.
    package func bind(_ values: [StorageValue]) throws {
        for (index, value) in values.enumerated() { try writer.bind(value, at: Int32(index + 1)) }
    }

    package func bindNull(at index: Int32) { sqlite3_bind_null(pointer, index) }

    /// Binds bytes that must stay alive and unchanged until the statement is reset.
    package func bind(borrowedText bytes: UnsafeRawBufferPointer, at index: Int32) {
        storage_bind_text_borrowed(pointer, index, bytes.baseAddress, bytes.count)
    }

    package func bind(borrowedBlob bytes: UnsafeRawBufferPointer, at index: Int32) {
        storage_bind_blob_borrowed(pointer, index, bytes.baseAddress, bytes.count)
    }

    /// The number of rows that the statement's last run changed.
    package var changes: Int { connection.changes }

    package func clearBindings() { sqlite3_clear_bindings(pointer) }

    package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }

    package func string(_ column: Int32) -> String {
        sqlite3_column_text(pointer, column).map { String(cString: $0) } ?? ""
    }

    /// A column's bytes, valid until the next step.
    package func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(pointer, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column)))
    }
}

extension PreparedStatement {
    /// Whether a column of the current row holds exactly this value of an event.
    package func holds(_ value: storage_value, bytes: UnsafePointer<UInt8>, in column: Int32) -> Bool {
        // Reading the value costs more than comparing its type.
        sqlite3_column_type(pointer, column) == Int32(value.type)
            && value.isSame(as: storage_value(borrowing: row, column: column), from: bytes)
    }

    /// Binds a value of an event. Its bytes must stay alive and unchanged until the statement is reset.
    @inline(__always)
    package func bind(_ value: storage_value, bytes: UnsafePointer<UInt8>, at index: Int32) {
        value.bind(to: writer, at: index, from: bytes)
    }
}

extension StorageError {
    /// SQLite's `SQLITE_CORRUPT_VTAB`, which is a macro that Swift doesn't import.
    static let virtualTableDamage = SQLITE_CORRUPT | 1 << 8

    /// Whether SQLite says that an expression is nested too deeply; the limit depends on its version.
    private static func isOfDepth(_ message: String) -> Bool {
        message == "parser stack overflow" || message.hasPrefix("Expression tree is too large")
    }

    /// The error of an SQLite result code.
    package static func sqlite(code: Int32, message: String, sql: String?, cause: (any Error)? = nil) -> StorageError {
        let context = sql.map { " while running `\($0.prefix(200))`" } ?? ""
        switch code & 0xFF {
        case SQLITE_ERROR where message == "integer overflow":
            return StorageError(
                .invalidValue,
                "A sum or another result exceeds 64 bits, if only in between\(context): \(message).",
                remedy: "Use smaller numbers, or reals; in SQL, `total` sums up reals.", cause: cause)
        case SQLITE_ERROR where isOfDepth(message):
            return StorageError(
                .limitExceeded, "SQLite refused a statement that is nested too deeply\(context): \(message).",
                remedy: "Join conditions of one kind in one list, and nest fewer in each other.", cause: cause)
        case SQLITE_ERROR where message == "too many SQL variables",
            SQLITE_TOOBIG where message == "statement too long":
            return StorageError(
                .limitExceeded, "SQLite refused a statement with too many values\(context): \(message).",
                remedy: "Ask for fewer values at a time, or keep them in a table and join it.", cause: cause)
        case SQLITE_BUSY where message.hasSuffix("SQL statements in progress"):
            return StorageError(
                .invalidArgument, "A statement hasn't been read to its end\(context): \(message).",
                remedy: "Read the statement to its end first: fetch all of its rows, or reset it.", cause: cause)
        case SQLITE_BUSY, SQLITE_LOCKED:
            return StorageError(
                .busy, "The store is locked\(context): \(message).",
                remedy: "Close the other writer, then try again.", cause: cause)
        case SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN:
            return StorageError(
                .ioError, "The disk refused\(context): \(message).",
                remedy: "Check free space and permissions, then open the store again.", cause: cause)
        case SQLITE_NOMEM:
            return StorageError(
                .outOfMemory, "There is no memory\(context).",
                remedy: "Close other programs, or do it in smaller parts.",
                cause: cause)
        case SQLITE_INTERRUPT:
            return StorageError(
                .interrupted, "A statement was interrupted\(context).", remedy: "Run it again.", cause: cause)
        case SQLITE_CORRUPT where code == virtualTableDamage:
            var error = StorageError(
                .corrupt,
                "What a virtual table keeps, such as a full-text index, contradicts itself\(context): \(message). A program has changed it, or its pages are damaged.",
                remedy:
                    "Run `storagekit verify`: if it finds damaged pages, restore a backup. Else make a full-text index of StorageKit again by `storagekit rebuild`, and any other virtual table as it was made.",
                cause: cause)
            error.isOfVirtualTable = true
            return error
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            return StorageError(
                .corrupt, "The store's file is damaged\(context): \(message).",
                remedy: "Run `storagekit verify` to see how far the damage goes, then restore a backup.", cause: cause)
        case SQLITE_READONLY:
            return StorageError(
                .readOnly, "The connection can only read\(context).",
                remedy:
                    "Change rows in `write`. If the store was opened with `isReadOnly`, open it for writing; else check the permissions of its file and folder.",
                cause: cause)
        case SQLITE_CONSTRAINT:
            return StorageError(
                .conflict, "A constraint of the schema refused the change\(context): \(message).",
                remedy: "Correct the row, or the schema.", cause: cause)
        case SQLITE_TOOBIG:
            return StorageError(
                .limitExceeded, "A value is too large\(context): \(message).",
                remedy: "Store large content in files, and their names here.", cause: cause)
        default:
            return StorageError(
                .database, "SQLite refused\(context): \(message).", remedy: "Correct the statement or the schema.",
                cause: cause)
        }
    }
}
