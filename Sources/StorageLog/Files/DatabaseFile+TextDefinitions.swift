internal import CSQLite
internal import Foundation
internal import StorageCore

// GRDB registers collations and functions of Swift's and Foundation's texts on each of its connections, so schemas may use them.
// A connection without GRDB needs the same ones, or SQLite refuses the tables.

extension DatabaseFile {
    /// Registers the collations and functions that GRDB's connections have, under their names and with their results.
    static func registerTextDefinitions(on connection: Connection) throws {
        try register("swiftCompare", on: connection) { _, leftSize, left, rightSize, right in
            let (left, right) = (text(left, leftSize), text(right, rightSize))
            return left < right ? -1 : left == right ? 0 : 1
        }
        try register("swiftCaseInsensitiveCompare", on: connection) { _, leftSize, left, rightSize, right in
            Int32(text(left, leftSize).caseInsensitiveCompare(text(right, rightSize)).rawValue)
        }
        try register("swiftLocalizedCaseInsensitiveCompare", on: connection) { _, leftSize, left, rightSize, right in
            Int32(text(left, leftSize).localizedCaseInsensitiveCompare(text(right, rightSize)).rawValue)
        }
        try register("swiftLocalizedCompare", on: connection) { _, leftSize, left, rightSize, right in
            Int32(text(left, leftSize).localizedCompare(text(right, rightSize)).rawValue)
        }
        try register("swiftLocalizedStandardCompare", on: connection) { _, leftSize, left, rightSize, right in
            Int32(text(left, leftSize).localizedStandardCompare(text(right, rightSize)).rawValue)
        }
        try register("swiftCapitalizedString", on: connection) { convert($0, arguments: $2, by: \.capitalized) }
        try register("swiftLowercaseString", on: connection) { convert($0, arguments: $2) { $0.lowercased() } }
        try register("swiftUppercaseString", on: connection) { convert($0, arguments: $2) { $0.uppercased() } }
        try register("swiftLocalizedCapitalizedString", on: connection) {
            convert($0, arguments: $2, by: \.localizedCapitalized)
        }
        try register("swiftLocalizedLowercaseString", on: connection) {
            convert($0, arguments: $2, by: \.localizedLowercase)
        }
        try register("swiftLocalizedUppercaseString", on: connection) {
            convert($0, arguments: $2, by: \.localizedUppercase)
        }
    }

    private static func register(
        _ collation: String, on connection: Connection,
        comparing compare:
            @convention(c) (
                UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?
            ) -> Int32
    ) throws {
        let code = sqlite3_create_collation_v2(connection.handle, collation, SQLITE_UTF8, nil, compare, nil)
        guard code == SQLITE_OK else { throw connection.error(code) }
    }

    private static func register(
        _ function: String, on connection: Connection,
        calling call: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
    ) throws {
        let code = sqlite3_create_function_v2(
            connection.handle, function, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil, call, nil, nil, nil)
        guard code == SQLITE_OK else { throw connection.error(code) }
    }
}

private func text(_ start: UnsafeRawPointer?, _ size: Int32) -> String {
    String(decoding: UnsafeRawBufferPointer(start: start, count: Int(size)), as: UTF8.self)
}

/// The text of a function's argument as GRDB reads it: one in a blob must be UTF-8, and another ends at its first NUL. Nil for what is
/// no text.
private func text(_ argument: OpaquePointer) -> String? {
    switch sqlite3_value_type(argument) {
    case SQLITE_TEXT: return sqlite3_value_text(argument).map { String(cString: $0) }
    case SQLITE_BLOB:
        let start = sqlite3_value_blob(argument)
        let bytes = UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(argument)))
        return String(data: Data(bytes), encoding: .utf8)
    default: return nil
    }
}

/// Returns the converted text to SQLite; NULL for what is no text, as GRDB's functions do.
private func convert(
    _ context: OpaquePointer?, arguments: UnsafeMutablePointer<OpaquePointer?>?, by conversion: (String) -> String
) {
    guard let argument = arguments?[0], let text = text(argument) else { return sqlite3_result_null(context) }
    // As GRDB's, it ends at the first NUL, and SQLite copies it before the call returns.
    let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    conversion(text).withCString { sqlite3_result_text(context, $0, -1, copies) }
}
