/// What a scan keeps of a commit until its summary is complete.
struct ScannedCommit {
    let number: Int64
    /// The first changed rows, if they were requested.
    var rows: ChangedRows
    /// The parts, if events were requested.
    var parts = CommitParts()

    init(number: Int64) {
        self.number = number
        rows = ChangedRows()
    }
}
