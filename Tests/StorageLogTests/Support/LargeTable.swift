import GRDB
import StorageCore
import StorageMaintenance
import TestSupport

@testable import StorageLog

/// A table of so many rows that its past is read without making it, where that is possible.
struct LargeTable: Sendable {
    var name: String
    /// The declarations of the columns, but for `_position`; one of them is `n INT`, the number of the row.
    let columns: String
    /// The declaration of the key behind the columns, unless they have it.
    var key = ""
    /// What follows the parentheses.
    var options = ""
    /// The columns that ``values`` sets.
    var filled = "id, n, t"
    /// The values of row number `i`.
    let values: String
    /// What gives a row another key.
    let rename: String
    /// The first column of the key of a row, by its number, of tables that are read by it.
    var firstKey: @Sendable (Int) -> StorageValue = { .integer(Int64($0)) }

    /// Makes a store with tables of so many rows.
    static func open(_ folder: TemporaryFolder, _ tables: [LargeTable], rows: Int) async throws -> StorageEngine {
        let engine = try StorageEngine.openStore(path: folder.path(), configuration: TestStore.configuration())
        for table in tables { try await table.create(rows: rows, in: engine) }
        return engine
    }

    func create(rows: Int, in engine: StorageEngine) async throws {
        let columns = "\(columns), _position INT NOT NULL DEFAULT 0\(key)"
        try await engine.adopt(name, "CREATE TABLE \(name)(\(columns)) \(options)")
        try await engine.commit(insertion(1...rows))
    }

    /// SQL that inserts rows by their numbers.
    ///
    /// - Parameter clause: What to do about a row that is in the way.
    func insertion(_ numbers: ClosedRange<Int>, or clause: String = "IGNORE") -> String {
        """
        WITH RECURSIVE c(i) AS (
          VALUES (\(numbers.lowerBound)) UNION ALL SELECT i + 1 FROM c WHERE i < \(numbers.upperBound))
        INSERT OR \(clause) INTO \(name)(\(filled)) SELECT \(values) FROM c
        """
    }

    /// SQL that gives a row, found by its number, the key and values with which it was inserted.
    func restoration(of number: Int) -> String {
        """
        UPDATE OR IGNORE \(name) SET (\(filled)) = (SELECT \(values) FROM (SELECT \(number) AS i)) WHERE n = \(number)
        """
    }

    /// SQL that gives the table another name, which it has here, too.
    mutating func renaming(to name: String) -> String {
        defer { self.name = name }
        return "ALTER TABLE \(self.name) RENAME TO \(name)"
    }

    /// The rows that meet a condition, in the order of their values.
    func rows(
        where condition: String = "TRUE", arguments: StatementArguments = [], in db: GRDB.Database
    ) throws -> [String] {
        let quotes = try db.columns(in: name).map { "quote(\"\($0.name)\")" }.joined(separator: " || ',' || ")
        return try String.fetchAll(
            db, sql: "SELECT \(quotes) FROM \(name) WHERE \(condition)", arguments: arguments
        ).sorted()
    }
}
