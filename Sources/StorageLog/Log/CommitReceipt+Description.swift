internal import StorageCore

extension CommitReceipt: CustomStringConvertible {
    /// The commit and its positions: `t:12 @101..@140`; `no changes @100` where nothing was written.
    public var description: String {
        guard let commit else { return "no changes @\(last)" }
        return "t:\(commit) \(first <= last ? (first...last).positionText : "@\(last)")"
            + (isDuplicate ? ", a duplicate" : "")
    }
}
