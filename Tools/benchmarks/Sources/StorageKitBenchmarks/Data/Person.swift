/// The row of most benchmarks: eight columns of the usual types.
struct Person: Codable, Equatable, Sendable {
    var id: String
    var name: String
    var email: String
    var age: Int64
    var city: String
    var active: Bool
    var score: Double
    /// Microseconds since 1970.
    var updatedAt: Int64
}
