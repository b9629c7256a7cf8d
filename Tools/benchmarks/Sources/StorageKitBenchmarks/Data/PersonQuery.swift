/// A question with three conditions: the best of a city's active people from an age on.
struct PersonQuery: Sendable {
    let minimumAge: Int64
    let city: String

    static let limit = 20

    /// Questions about cities and ages from a seed.
    static func queries(_ count: Int, cities: UInt64, seed: UInt64) -> [PersonQuery] {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { _ in
            PersonQuery(minimumAge: 18 + Int64(random.next() % 60), city: "city-\(random.next() % cities)")
        }
    }

    /// How many rows each question finds at the most, summed up over all of them.
    static func expectedRows(_ queries: [PersonQuery], among people: [Person]) -> Int {
        let ages = Dictionary(grouping: people.filter(\.active), by: \.city).mapValues { $0.map(\.age) }
        return queries.reduce(0) { sum, query in
            sum + min(limit, ages[query.city, default: []].count { $0 >= query.minimumAge })
        }
    }
}
