internal import GRDB
internal import StorageCore
internal import StorageLog

extension Storage {
    /// Turns the write guard on or off. If it is on, statements of other programs that insert, update or delete rows of
    /// entities fail with a message that says why.
    ///
    /// ```swift
    /// try await storage.setWriteGuard(true)
    /// ```
    ///
    /// If it is off, such writes succeed, and `verify` and `rebuild` find them afterwards. The guard is a setting of the file:
    /// copies and backups have it too, and so do tables that are created later. It consists of triggers that call a function
    /// which only the store's own connection has. Reads aren't affected, nor are the store's own writes, with one exception:
    /// SQLite updates the rows of a table with triggers in another order, which matters to `UPDATE OR IGNORE`, `OR FAIL` and
    /// `OR REPLACE` of several rows.
    ///
    /// It prevents mistakes, not deliberate changes: a program can drop the triggers or a table, disable triggers, or define a function of that name.
    ///
    /// Turning it on again creates missing triggers.
    ///
    /// - Throws: ``StorageError`` as ``Storage`` says.
    /// - Complexity: One transaction. While it is on, a row of a batch costs 20 to 35 % more; single saves cost as much as before.
    public func setWriteGuard(_ isOn: Bool) async throws { try await engine.setWriteGuard(isOn) }

    /// Whether the write guard is on.
    ///
    /// ```swift
    /// if try await !storage.isWriteGuarded() { try await storage.setWriteGuard(true) }
    /// ```
    ///
    /// - Throws: ``StorageError`` as ``Storage`` says.
    public func isWriteGuarded() async throws -> Bool {
        try await engine.read { (db: GRDB.Database) in try WriteGuard.isOn(db.connection) }
    }
}
