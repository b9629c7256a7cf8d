/// A number that a contender finds out by itself, beside time and memory.
struct Metric {
    let name: String
    let value: Double
}
