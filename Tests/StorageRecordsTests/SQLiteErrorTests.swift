import StorageCore
import Testing

@testable import StorageRecords

/// What errors of SQLite become.
@Suite struct SQLiteErrorTests {
    @Test("Damage of a virtual table may be in the table only")
    func virtualTable() {
        let file = StorageError.sqlite(code: 11, message: "malformed", sql: nil)
        let table = StorageError.sqlite(code: 267, message: "malformed", sql: nil)
        #expect(file.code == .corrupt)
        #expect(table.code == .corrupt)
        #expect(file.message.contains("The store's file is damaged"))
        #expect(table.message.contains("a virtual table"))
        #expect(table.remedy.contains("storagekit rebuild"))
    }
}
