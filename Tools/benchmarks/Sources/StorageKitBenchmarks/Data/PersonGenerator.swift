/// Makes rows from a seed. A row depends on the seed, its index and its version only, so that a large data set
/// never has to be in memory and any row of it can be made again.
struct PersonGenerator: Sendable {
    let seed: UInt64

    private static let firstNames = [
        "Ada", "Alan", "Barbara", "Claude", "Donald", "Edsger", "Frances", "Grace", "Jean", "John", "Katherine",
        "Leslie", "Margaret", "Niklaus", "Radia", "Tony",
    ]
    private static let lastNames = [
        "Allen", "Backus", "Bartik", "Dijkstra", "Hamilton", "Hoare", "Hopper", "Johnson", "Knuth", "Lamport",
        "Liskov", "Lovelace", "Perlman", "Shannon", "Turing", "Wirth",
    ]
    static let cityCount: UInt64 = 2_000
    private static let firstUpdate: Int64 = 1_700_000_000_000_000

    /// The row with this index, keys rising. Versions of a row differ in `age`, `score` and `updatedAt`.
    func person(_ index: Int, version: Int = 0) -> Person {
        var identity = SplitMix64(seed: seed &+ UInt64(index) &* 0xD134_2543_DE82_EF95)
        let first = Self.firstNames[Int(identity.next() % UInt64(Self.firstNames.count))]
        let last = Self.lastNames[Int(identity.next() % UInt64(Self.lastNames.count))]
        let city = identity.next() % Self.cityCount
        let active = identity.next() % 4 != 0
        let firstAge = identity.next() % 60

        var state = SplitMix64(seed: identity.next() &+ UInt64(version))
        return Person(
            id: key(index),
            name: "\(first) \(last)",
            email: "\(first).\(last).\(index)@example.com".lowercased(),
            age: 18 + Int64(firstAge) + Int64(version),
            city: "city-\(city)",
            active: active,
            score: Double(state.next() % 100_000) / 100,
            updatedAt: Self.firstUpdate + Int64(version) * 60_000_000 + Int64(state.next() % 60_000_000))
    }

    /// The primary key of the row with this index.
    func key(_ index: Int) -> String {
        let digits = String(index)
        return "person-" + String(repeating: "0", count: max(0, 9 - digits.count)) + digits
    }

    /// Rows `0..<count` of one version.
    func people(_ count: Int, version: Int = 0) -> [Person] {
        people(0..<count, version: version)
    }

    func people(_ indices: Range<Int>, version: Int = 0) -> [Person] {
        indices.map { person($0, version: version) }
    }
}
