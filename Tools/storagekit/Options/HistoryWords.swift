import StorageKit

/// The arguments of commands that read history: a range, then tables, rows or cells.
enum HistoryWords {
    /// Splits the words, with a single point as a range up to it, unless a table has that name.
    static func split(_ words: [String], naming catalog: Catalog) throws -> (PointRange?, [TargetArgument]) {
        try checkRange(words, catalog)
        guard let first = words.first, let point = try? PointArgument(first, now: SystemTime.now),
            !catalog.entities.contains(where: { $0.name.utf8.elementsEqual(first.utf8) })
        else { return try split(words) }
        return (PointRange(after: nil, through: point), try words.dropFirst().map(TargetArgument.init))
    }

    /// - Throws: `usage` for the name of a table that only looks like a range.
    private static func checkRange(_ words: [String], _ catalog: Catalog) throws(CommandError) {
        guard let first = words.first, first.contains(".."), (try? PointRange(first, now: 0)) == nil,
            catalog.entities.contains(where: { $0.name.utf8.elementsEqual(first.utf8) })
        else { return }
        throw CommandError(
            .usage, "'\(first)' isn't a range.", why: "A table has that name, but .. is read as a range.",
            next: "Name the table by an option: --table \(first.quotedAsShellWord)")
    }

    /// Splits the words into a range, if the first word is one, and the targets after it.
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
