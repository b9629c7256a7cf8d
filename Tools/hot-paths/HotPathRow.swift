import StorageKit

/// A narrow row.
@StorageEntity(table: "people")
struct HotPathRow {
    var id: Int
    var name: String
    var city: String
    var age: Int
    var score: Double
}

extension HotPathRow {
    /// The same for a number in each run.
    init(_ number: Int, version: Int = 0) {
        self.init(
            id: number, name: "person \(number) of the first \(number % 97)", city: "city \(number % 53)",
            age: (number + version) % 90, score: Double(number % 1_000) / 8)
    }
}

/// A row of texts, for a full-text index.
@StorageEntity(table: "notes")
struct HotPathNote {
    var id: Int
    var title: String
    var body: String
}

extension HotPathNote {
    init(_ number: Int) {
        let words = ["river", "stone", "garden", "winter", "letter", "window", "summer", "market"]
        let text = (0..<40).map { "\(words[(number * 7 + $0 * 3) % words.count])\((number + $0) % 31)" }
        self.init(id: number, title: "note \(number)", body: text.joined(separator: " "))
    }
}
