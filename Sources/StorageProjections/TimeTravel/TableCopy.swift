internal import CSQLite
internal import StorageCore
internal import StorageLog

/// Copies rows from one database to a table of the same name in another, value by value as they are.
struct TableCopy {
    private let source: OpaquePointer
    private let target: OpaquePointer

    init(from source: OpaquePointer, to target: OpaquePointer) {
        self.source = source
        self.target = target
    }

    func run(_ table: String) throws {
        let select = try Statement(source, "SELECT * FROM \(quoted(table))")
        let count = sqlite3_column_count(select.pointer)
        let names = (0..<count).map { quoted(String(cString: sqlite3_column_name(select.pointer, $0))) }
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        let insert = try Statement(
            target, "INSERT INTO \(quoted(table))(\(names.joined(separator: ", "))) VALUES (\(marks))")
        while try select.step() {
            for column in 0..<count {
                sqlite3_bind_value(insert.pointer, column + 1, sqlite3_column_value(select.pointer, column))
            }
            try insert.execute()
        }
    }
}
