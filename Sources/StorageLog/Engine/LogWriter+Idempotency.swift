internal import StorageCore

/// A commit with an idempotency key that was used before writes nothing and returns the first receipt.
extension LogWriter {
    /// The receipt of the commit that used an idempotency key before; nil if there is none.
    func repeated(_ key: String) throws -> CommitReceipt? {
        let select = try statement("SELECT number, first, last, time FROM storage_commit_key WHERE key = ?")
        defer { select.reset() }
        select.bind(text: key, at: 1)
        guard try select.step() else { return nil }
        let number = select.integer(0)
        return CommitReceipt(
            commit: number == 0 ? nil : number, first: select.integer(1), last: select.integer(2),
            time: select.integer(3), isDuplicate: true)
    }

    /// Remembers the receipt of a commit under its idempotency key, in the transaction of the commit.
    func remember(_ key: String?, _ receipt: CommitReceipt) throws {
        guard let key else { return }
        let insert = try statement(
            "INSERT INTO storage_commit_key(key, number, first, last, time) VALUES (?, ?, ?, ?, ?)")
        insert.bind(text: key, at: 1)
        insert.bind(receipt.commit ?? 0, at: 2)
        insert.bind(receipt.first, at: 3)
        insert.bind(receipt.last, at: 4)
        insert.bind(receipt.time, at: 5)
        try insert.execute()
    }
}
