/// The row of the search benchmarks: two texts to search, one short and one long.
struct Document: Codable, Equatable, Sendable {
    var id: String
    var title: String
    var body: String
    /// Microseconds since 1970.
    var updatedAt: Int64
}
