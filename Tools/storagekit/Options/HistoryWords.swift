/// The words of commands that walk through history: a range, then tables, rows or cells.
enum HistoryWords {
    /// The range, if the first word is one, and the targets after it.
    static func split(_ words: [String]) throws -> (PointRange?, [TargetArgument]) {
        var words = words[...]
        var range: PointRange?
        if let first = words.first, first.contains("..") {
            let now = SystemTime.now
            // Two dots may belong to a row's id, and a slash to a tag's name.
            let isRow = first.contains("/") && (try? PointRange(first, now: now)) == nil
            if !isRow {
                range = try PointRange(first, now: now)
                words = words.dropFirst()
            }
        }
        return (range, try words.map(TargetArgument.init))
    }
}
