internal import StorageLog

/// Finds the rows that occur several times. They are few, so combining only their events takes little memory.
struct DuplicateRows {
    private var seen: Set<Int> = []
    private var duplicates: Set<Int> = []

    mutating func add(_ row: RowAddress) {
        if !seen.insert(row.hashValue).inserted { duplicates.insert(row.hashValue) }
    }

    /// - Returns: The approximate number of such rows.
    @discardableResult
    mutating func finish() -> Int {
        seen = []
        return duplicates.count
    }

    /// Whether a row occurred several times; very rarely true for a row that didn't.
    func contains(_ row: RowAddress) -> Bool { duplicates.contains(row.hashValue) }
}
