/// A long log in which every row has the same number of versions: all rows at version 0, then all rows at
/// version 1, and so on. The versions of one row lie as far apart as they can.
struct LargeLog: Sendable {
    let events: Int
    var versions = 10
    let generator = PersonGenerator(seed: 7)

    var rows: Int { events / versions }

    /// Calls `body` with all events in order, in batches of at most `batchSize` rows of one version.
    func forEachBatch(of batchSize: Int = 10_000, _ body: ([Person]) async throws -> Void) async throws {
        for version in 0..<versions {
            for first in stride(from: 0, to: rows, by: batchSize) {
                try await body(generator.people(first..<min(first + batchSize, rows), version: version))
            }
        }
    }

    /// Keys of `count` rows in random order, the same ones each time.
    func keysToLookUp(_ count: Int) -> [String] {
        randomRows(count, seed: 11).map(generator.key)
    }

    /// A further version of each of `count` rows in random order, the same ones each time. No two are equal.
    func changes(_ count: Int) -> [Person] {
        randomRows(count, seed: 19).enumerated().map { generator.person($1, version: versions + $0) }
    }

    private func randomRows(_ count: Int, seed: UInt64) -> [Int] {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { _ in Int.random(in: 0..<rows, using: &random) }
    }
}
