internal import StorageLog

/// Which rows come up several times. Few do: only these are put together, so that much needs little memory.
struct DuplicateRows {
    private var seen: Set<Int> = []
    private var duplicates: Set<Int> = []

    mutating func add(_ row: RowAddress) {
        if !seen.insert(row.hashValue).inserted { duplicates.insert(row.hashValue) }
    }

    /// - Returns: About how many there are.
    @discardableResult
    mutating func finish() -> Int {
        seen = []
        return duplicates.count
    }

    /// Whether a row came up several times; once in a great while true of another one.
    func contains(_ row: RowAddress) -> Bool { duplicates.contains(row.hashValue) }
}
