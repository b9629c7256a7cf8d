import StorageKit

extension CommandError {
    /// The error with the line to type instead of text that works in other tools but isn't a query; nil for a query with another error.
    ///
    /// - Parameter error: SQLite's error.
    init?(unreadable sql: String, _ error: StorageError) {
        let first = sql.drop { $0.isWhitespace }.prefix { $0.isLetter }.uppercased()
        switch first {
        case "INSERT", "UPDATE", "DELETE", "REPLACE":
            self.init(
                .usage, "A query reads, and \(first) changes rows.",
                next:
                    "To change rows: storagekit exec \(ShellWords.quotedLine(sql) ?? "\"\(first) …\"") --reason WHY --dry-run"
            )
        case "CREATE", "ALTER", "DROP":
            self.init(
                .usage, "A query reads, and \(first) changes the schema.",
                next: "Change it in a migration of the program whose store it is.")
        default:
            if sql.uppercased().contains(" AS OF ") || sql.uppercased().contains(" FOR SYSTEM_TIME ") {
                self.init(
                    .usage, "SQLite has no AS OF.", next: "To query the past: storagekit at POINT \"SELECT …\"")
                return
            }
            guard let next = FirstGuesses.next(forShellCommand: sql) else { return nil }
            self.init(.usage, "\"\(sql)\" isn't SQL.", why: "\(error.message)", next: next)
        }
    }
}
