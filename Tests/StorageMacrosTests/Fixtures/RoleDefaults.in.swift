@StorageEntity
struct Note {
    var id: String
    @StorageJSON var tags: [String] = []
    @StorageJSON var weights: [String: [Double]] = ["a": [1, -2.5], "b": []]
    @StorageJSON var none: [String: Int] = [:]
    @StorageJSON var made: [Int] = Array(1...3)
    @StorageJSON var mixed: [Date] = [.distantPast, .now]
    @StorageJSON var mood: Mood = .good
}
