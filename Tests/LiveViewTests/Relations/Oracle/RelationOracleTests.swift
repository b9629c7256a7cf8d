import StorageKit
import StorageTesting
import TestSupport
import Testing

@testable import StorageEntities
@testable import StorageViews

/// Random queries across tables, as users hold them, against plain loops over arrays.
@Suite(.timeLimit(.minutes(10))) struct RelationOracleTests {
    private func library(_ generator: inout SplitMix64, size: Int) async throws -> Storage {
        let storage = try await Library.open(hasIndexes: generator.chance(80))
        let seed = generator.next()
        try await storage.write { tx in
            var generator = SplitMix64(seed: seed)
            for _ in 0..<6 * size { try Library.change(tx, &generator, size: size) }
        }
        return storage
    }

    @discardableResult
    private func change(_ storage: Storage, _ generator: inout SplitMix64, size: Int) async throws -> CommitReceipt {
        let seed = generator.next()
        let count = 1 + generator.below(4)
        return try await storage.write { tx in
            var generator = SplitMix64(seed: seed)
            for _ in 0..<count { try Library.change(tx, &generator, size: size) }
        }
    }

    // MARK: Views after each commit

    /// A scenario: a random query with everything that answers it, followed over some random commits.
    @MainActor private struct Scenario {
        /// What is wrong, where something is.
        let fault: (LibraryRows) async throws -> String?
        /// What is wrong with what the list says of itself.
        let faultOfExplanation: () async throws -> String?

        init<Entity: LibraryEntity>(_ storage: Storage, _ type: Entity.Type, _ generator: inout SplitMix64) {
            let random = RandomQuery<Entity>(&generator)
            var query = storage.query(type)
            query.request = random.request
            let list = QuerySubscription(query, start: .immediate)
            let first = SingleQuerySubscription(query, start: .immediate)
            let count = CountSubscription(query, start: .immediate)
            // Groups have no window and include nothing.
            let whole = RandomQuery<Entity>(&generator, isCondition: true)
            query.request = whole.request
            let groups = GroupedQuerySubscription(query, groupBy: \.section, start: .immediate)
            let total = CountSubscription(query, start: .immediate)
            query.request = random.request
            faultOfExplanation = { [query] in
                guard let explanation = await list.explain() else { return "\(random.text) isn't explained" }
                let once = try await query.explain().warnings
                let isWhole = explanation.isIncremental && Set(once).isSubset(of: explanation.warnings)
                return isWhole ? nil : "\(random.text): \(explanation)"
            }
            fault = { [query] library in
                let expected = random.find(in: library)
                let all = whole.find(in: library)
                if let error = list.error ?? first.error ?? count.error ?? groups.error ?? total.error {
                    return "\(random.text), \(whole.text): \(error)"
                }
                let (fetched, counted) = (try await query.fetch(), try await query.count())
                func differs<Shown: Equatable>(
                    _ name: String, _ shown: Shown, _ expected: Shown, of text: String = random.text
                ) -> String? {
                    shown == expected ? nil : "\(name) of \(text): \(shown) instead of \(expected)"
                }
                return differs("fetch", fetched, expected) ?? differs("count", counted, expected.count)
                    ?? differs("list", list.items, expected) ?? differs("first", first.item, expected.first)
                    ?? differs("live count", count.count, expected.count)
                    ?? differs("groups", groups.groups, Dictionary(grouping: all, by: \.section), of: whole.text)
                    ?? differs("total", total.count, all.count, of: whole.text)
            }
        }

        static func random(_ storage: Storage, _ generator: inout SplitMix64) -> Scenario {
            switch generator.below(8) {
            case 0..<3: Scenario(storage, Novelist.self, &generator)
            case 3..<6: Scenario(storage, Novel.self, &generator)
            case 6: Scenario(storage, Publisher.self, &generator)
            default: Scenario(storage, Chapter.self, &generator)
            }
        }
    }

    /// Each has a store, in which some scenarios after others run beside each other.
    private static let viewSeeds = testSeeds(65)
    private static let scenariosAtOnce = 4
    private static let rounds = 2

    @Test("There are 500 scenarios every day, and as many more as the scale asks for")
    func scenarioCount() {
        let count = Self.viewSeeds.count * Self.rounds * Self.scenariosAtOnce
        #expect(Self.viewSeeds.count == 1 || count >= Int(500 * testScale))
    }

    @Test("Views of random queries show what loops over all rows find", arguments: viewSeeds)
    @MainActor func views(seed: UInt64) async throws {
        var generator = SplitMix64(seed: seed)
        let size = 3 + generator.below(8)
        let storage = try await library(&generator, size: size)
        for round in 0..<Self.rounds {
            let scenarios = (0..<Self.scenariosAtOnce).map { _ in Scenario.random(storage, &generator) }
            for commit in 0..<5 {
                if commit > 0 {
                    await storage.waitForViews(through: try await change(storage, &generator, size: size))
                }
                let library = try await LibraryRows(storage)
                for scenario in scenarios {
                    let fault = try await scenario.fault(library)
                    #expect(fault == nil, "STORAGEKIT_SEED=\(seed), round \(round), commit \(commit)")
                    guard fault == nil else { return }
                }
            }
            let fault = try await scenarios[0].faultOfExplanation()
            #expect(fault == nil, "STORAGEKIT_SEED=\(seed), round \(round)")
        }
    }

    // MARK: Readers beside commits

    @Test("Differences that are read beside commits lead to the state of their position", arguments: testSeeds(10))
    func readersBesideCommits(seed: UInt64) async throws {
        var generator = SplitMix64(seed: seed)
        let size = 3 + generator.below(8)
        let storage = try await library(&generator, size: size)
        var readers: [any DifferenceReading] = []
        for commit in 0..<40 {
            if commit % 10 == 0 {
                readers.append(DifferenceReader<Novelist>(storage, seed: generator.next()))
                readers.append(DifferenceReader<Novel>(storage, seed: generator.next()))
            }
            try await change(storage, &generator, size: size)
        }
        let last = try await LibraryRows(storage)
        var positions: Set<Int64> = []
        for reader in readers {
            let fault = try await reader.fault(inTheEnd: last)
            #expect(fault == nil, "STORAGEKIT_SEED=\(seed)")
            positions.formUnion(reader.positions)
        }
        for position in positions.sorted() {
            let library = try await LibraryRows(try await storage.asOf(.position(position)))
            for reader in readers {
                let fault = reader.fault(at: position, library)
                #expect(fault == nil, "STORAGEKIT_SEED=\(seed)")
            }
        }
    }
}
