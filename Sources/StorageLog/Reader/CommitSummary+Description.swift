internal import StorageCore

extension CommitSummary: CustomStringConvertible {
    /// The commit in one line: `t:12 2026-01-15T10:00:00Z anna @101..@104 posts: 3 inserted; users: 1 deleted`.
    public var description: String {
        let changes = changes.sorted { $0.key < $1.key }.map { "\($0): \($1)" }
        return "\(info) \(positions.positionText)"
            + (changes.isEmpty ? "" : " " + changes.joined(separator: "; "))
    }
}

extension CommitSummary.Counts: CustomStringConvertible {
    /// `3 inserted, 1 updated`
    public var description: String {
        ChangeText.counts(inserted: insert, updated: update, deleted: delete) ?? "no changes"
    }
}
