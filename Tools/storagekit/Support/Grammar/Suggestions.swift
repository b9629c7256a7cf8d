/// Suggestions for mistyped names.
enum Suggestions {
    private static let limit = 3

    /// Returns the known names that are nearest to a word, nearest first; if all are far away, those that contain it.
    static func nearest(to word: String, among names: [String]) -> [String] {
        let most = max(2, word.count / 3)
        let folded = word.lowercased()
        let near = names.map { (name: $0, distance: distance(folded, $0.lowercased(), most: most)) }
            .filter { $0.distance <= most }
            .sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }
            .prefix(limit).map(\.name)
        guard near.isEmpty, folded.count >= 3 else { return near }
        return Array(names.filter { $0.lowercased().contains(folded) }.sorted().prefix(limit))
    }

    /// The first few names, and how many more there are.
    static func list(_ names: [String]) -> String {
        let shown = names.prefix(8).joined(separator: ", ")
        return names.count > 8 ? "\(shown) and \(names.count - 8) more" : shown
    }

    /// Insertions, deletions and replacements between two words (Levenshtein); anything above `most` if there are more.
    static func distance(_ a: String, _ b: String, most: Int) -> Int {
        let a = Array(a)
        let b = Array(b)
        guard abs(a.count - b.count) <= most else { return most + 1 }
        var row = Array(0...b.count)
        for (i, x) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, y) in b.enumerated() {
                let replaced = diagonal + (x == y ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[b.count]
    }
}
