/// A history as programs leave it: rows come one after another, and each is changed nine times, soon at first and then
/// ever later. So some versions of a row lie side by side in the log, and others far apart.
struct VersionedLog: Sendable {
    let rows: Int
    let generator = PersonGenerator(seed: 13)

    /// How many rows later a row gets its next version.
    private static let delays = [0, 1, 4, 20, 80, 400, 1_000, 2_000, 4_000, 8_000]

    /// How many rows come between the last two versions of a row.
    var longestDelay: Int { Self.delays.last ?? 0 }
    var versions: Int { Self.delays.count }
    var events: Int { rows * versions }

    /// Calls `body` with all events in order, in commits of a few rows each.
    func forEachCommit(_ body: ([Person]) async throws -> Void) async throws {
        var people: [Person] = []
        for step in 0..<rows + longestDelay {
            for (version, delay) in Self.delays.enumerated() where (0..<rows).contains(step - delay) {
                people.append(generator.person(step - delay, version: version))
            }
            if step % 16 == 15 {
                try await body(people)
                people.removeAll(keepingCapacity: true)
            }
        }
        if !people.isEmpty { try await body(people) }
    }
}
