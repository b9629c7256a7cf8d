/// A long log in which rows are inserted by their keys, and then changed in random order, a few a commit.
struct RandomLog: Sendable {
    let events: Int
    let generator = PersonGenerator(seed: 7)
    static let rowsPerCommit = 100
    private static let versions = 10

    var rows: Int { events / Self.versions }

    /// Calls `body` with all rows in the order of their events.
    func forEachCommit(_ body: ([Person]) async throws -> Void) async throws {
        for first in stride(from: 0, to: rows, by: 10_000) {
            try await body(generator.people(first..<min(first + 10_000, rows)))
        }
        var versions = [Int32](repeating: 0, count: rows)
        var random = SplitMix64(seed: 17)
        for first in stride(from: rows, to: events, by: Self.rowsPerCommit) {
            let count = min(Self.rowsPerCommit, events - first)
            try await body((0..<count).map { _ in nextVersion(of: &versions, &random) })
        }
    }

    private func nextVersion(of versions: inout [Int32], _ random: inout SplitMix64) -> Person {
        let row = nextRow(&random)
        versions[row] += 1
        return generator.person(row, version: Int(versions[row]))
    }

    private func nextRow(_ random: inout SplitMix64) -> Int { Int(random.next() % UInt64(rows)) }

    /// The sum of all ages after so many events: each new version of a row is a year older.
    func sumOfAges(after events: Int) -> Int64 {
        let first = (0..<rows).reduce(Int64(0)) { $0 + generator.person($1).age }
        return first + Int64(max(0, events - rows))
    }
}
