import Foundation
import PredicateTestSupport
import StorageCore
import Synchronization
import TestSupport
import Testing

@testable import StorageLog
@testable import StorageViews

/// Whatever views there are and whatever happens to their rows: each view is what SQLite answers at its position, and
/// what it reports leads from what was there before to what is there now.
///
/// Each scenario comes from one seed. At scale 1 each row of ``ViewTraits/rows`` is run once, at scale 20 twenty times with
/// other tables, views and transactions. A scenario that fails is made as small as it can be and reported as Swift source:
/// once its fault is fixed, it belongs among the known ones.
@Suite struct LiveViewOracleTests {
    private static let seeds = RouterSettings.seeds(ViewTraits.rows.count, from: 0)

    private static func traits(_ seed: UInt64) -> ViewTraits {
        ViewTraits(ViewTraits.rows[Int(seed % UInt64(ViewTraits.rows.count))])
    }

    /// What all scenarios of a run have shown.
    private struct Summary {
        /// How often the views of each trait have reported something, by dimension and value.
        var reported: [String: Int] = [:]
        /// How often views that can be brought up to date step by step were notified of changes, and how often they read
        /// everything anew instead.
        var wakes = 0
        var reloads = 0
        /// How many transactions were skipped at once because they concerned nobody.
        var skipped = 0
        /// In what ways scenarios have failed.
        var faults: Set<String> = []
    }

    /// What the lanes of a run share.
    private final class Findings: Sendable {
        private let seeds: Mutex<ArraySlice<UInt64>>
        let summary = Mutex(Summary())

        init(_ seeds: [UInt64]) { self.seeds = Mutex(seeds[...]) }

        func next() -> UInt64? { seeds.withLock { $0.popFirst() } }
    }

    @Test("Every view equals the database's answer")
    func viewsEqualDatabase() async {
        let all = Findings(Self.seeds)
        await withTaskGroup { group in
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
                group.addTask {
                    while let seed = all.next() { await Self.run(seed, all) }
                }
            }
        }
        let found = all.summary.withLock { $0 }
        guard Self.seeds.count >= ViewTraits.rows.count else { return }
        for dimension in ViewTraits.dimensions {
            // Of no rows there is nothing to tell but how many there are.
            for value in dimension.values where value != "empty" {
                #expect(found.reported["\(dimension.name) \(value)", default: 0] > 0, "\(dimension.name) \(value)")
            }
        }
        #expect(found.skipped > 0)
        // Reading everything again at each change would be right as well, and of no use.
        #expect(found.reloads * 20 < found.wakes, "\(found.reloads) of \(found.wakes)")
    }

    /// One view of a row or two, looked at after each transaction: most of them concern it not at all.
    @Test("A view of few rows equals the database's answer")
    func smallViewsEqualDatabase() async {
        let seeds = RouterSettings.seeds(24, from: 40_000)
        var skipped = 0
        for seed in seeds {
            let scenario = Self.narrowed(ScenarioMaker.scenario(Self.traits(seed), seed: seed))
            let outcome = await ScenarioRun.outcome(of: scenario)
            if let fault = outcome.fault { Issue.record("STORAGEKIT_SEED=\(seed)\n\(fault)\n\(scenario)") }
            skipped += outcome.counters.skipped
        }
        #expect(skipped > seeds.count)
    }

    private static func narrowed(_ scenario: Scenario) -> Scenario {
        var scenario = scenario
        let keys = scenario.filling.prefix(2).compactMap(\.values.first)
        let isFew = RowPredicate.among(column: scenario.table.keyNames[0], keys)
        scenario.views = scenario.views.prefix(1).map { view in
            var view = view
            view.filter = view.filter.map { $0 && isFew } ?? isFew
            return view
        }
        scenario.relations = []
        scenario.readsLog = false
        scenario.steps = scenario.steps.flatMap { step in
            if case .commit = step { [step, .look] } else { [step] }
        }
        return scenario
    }

    private static func run(_ seed: UInt64, _ all: Findings) async {
        let traits = traits(seed)
        let scenario = ScenarioMaker.scenario(traits, seed: seed)
        let outcome = await ScenarioRun.outcome(of: scenario)
        let goesStepByStep = scenario.views.allSatisfy { $0.goesStepByStep(on: scenario.table) }
        let isNew = all.summary.withLock { summary in
            for (dimension, value) in zip(ViewTraits.dimensions, traits.names) {
                summary.reported["\(dimension.name) \(value)", default: 0] += outcome.reported["main", default: 0]
            }
            summary.skipped += outcome.counters.skipped
            if goesStepByStep {
                summary.wakes += outcome.counters.wakeups
                summary.reloads += outcome.counters.reloads
            }
            return outcome.fault.map { summary.faults.insert($0.kind).inserted && summary.faults.count <= 3 } ?? false
        }
        guard let fault = outcome.fault else { return }
        // What fails in the same way as another one needn't be made smaller too.
        guard isNew else {
            Issue.record("STORAGEKIT_SEED=\(seed) \(traits.names)\n\(fault)")
            return
        }
        let smallest = await ScenarioShrinker { await ScenarioRun.outcome(of: $0).fault?.kind == fault.kind }
            .shrink(scenario)
        let left = await ScenarioRun.outcome(of: smallest).fault ?? fault
        Issue.record("STORAGEKIT_SEED=\(seed) \(traits.names)\n\(left)\n\(smallest)")
    }

    @Test("Every pair of traits is tried", .enabled(if: seeds.count >= ViewTraits.rows.count))
    func everyPairOfTraits() {
        let tried = Set(Self.seeds.flatMap { Pairwise.pairs(in: Self.traits($0).places) })
        let possible = Set(ViewTraits.pairwise.pairs)
        #expect(possible.subtracting(tried).isEmpty)
        #expect(tried.isSubset(of: possible))
        // Two dimensions of ten and twelve values alone take 120.
        #expect(ViewTraits.rows.count < 200)
    }

    /// Whatever pair there is in any row that is possible at all is one of those that are asked for.
    @Test("Possible pairs are those of possible rows")
    func possiblePairs() {
        var generator = PredicateGenerator(seed: 1)
        let possible = Set(ViewTraits.pairwise.pairs)
        for _ in 0..<500 {
            let row = ViewTraits.dimensions.map { generator.number(0...$0.values.count - 1) }
            if ViewTraits.pairwise.isPossible(row) { #expect(Set(Pairwise.pairs(in: row)).isSubset(of: possible)) }
        }
    }

    /// What scenarios have found, each as small as it could be made.
    private static let known: [Scenario] = [
        // Two keys that the order takes for one.
        Scenario(
            table: TablePlan([TablePlan.Column("k", "TEXT"), TablePlan.Column("m", "INTEGER")], keyCount: 2),
            filling: [
                Scenario.Operation("INSERT INTO rows(k, m) VALUES ('a', 0), ('b', 3), ('a', 2), ('b', 0), ('a', 1)")
            ],
            views: [
                Scenario.View(
                    name: "list", orderings: [RowOrdering("k", .descending, collation: .noCase)], limit: 2, offset: 2,
                    kind: .list(margin: 2))
            ],
            steps: [
                .commit([Scenario.Operation("INSERT INTO rows(k, m) VALUES ('A', 0), ('A', 2)")]),
                .move(view: "list", offset: 6),
            ]),
        // A row that moves to the place right before the first one of an anchored window.
        Scenario(
            table: TablePlan([TablePlan.Column("k", "INTEGER"), TablePlan.Column("c", "REAL")]),
            filling: [Scenario.Operation("INSERT INTO rows(k, c) VALUES (1, 0), (2, 1), (4, 1), (3, 2)")],
            views: [
                Scenario.View(
                    name: "list", orderings: [RowOrdering("c")], limit: 2, offset: 2, kind: .list(isAnchored: true))
            ],
            steps: [.commit([Scenario.Operation("UPDATE rows SET c = 1 WHERE k = 3")]), .look]),
    ]

    @Test("What scenarios have found stays fixed", arguments: known)
    func knownScenarios(scenario: Scenario) async {
        let outcome = await ScenarioRun.outcome(of: scenario)
        #expect(outcome.fault == nil)
    }

    /// An oracle that lies, once a row has a certain value: what is left is a view and a row with that value.
    @Test("A scenario that fails is shrunk")
    func shrinking() async throws {
        let lie: ScenarioRun.Lie = { view in view.shown?.contains { $0.contains(.text("liar")) } ?? false }
        var found = 0
        let wanted = testScale > 1 ? 4 : 1
        for seed in UInt64(1)..<40 where found < wanted {
            var scenario = ScenarioMaker.scenario(Self.traits(seed &* 7), seed: seed)
            guard scenario.steps.count > 8, case .commit = scenario.steps[0] else { continue }
            let name = quoted(scenario.table.contentNames[0])
            scenario.steps[0].operations.append(Scenario.Operation("UPDATE rows SET \(name) = ?", [.text("liar")]))
            guard await ScenarioRun.outcome(of: scenario, lie: lie).fault?.kind == "lie" else { continue }
            found += 1
            let smallest = await ScenarioShrinker { await ScenarioRun.outcome(of: $0, lie: lie).fault?.kind == "lie" }
                .shrink(scenario)
            #expect(smallest.views.count == 1, "seed \(seed): \(smallest)")
            #expect(smallest.operationCount <= 2, "seed \(seed): \(smallest)")
            #expect(smallest.views[0].filter == nil, "seed \(seed): \(smallest)")
            #expect(smallest.relations.isEmpty, "seed \(seed): \(smallest)")
        }
        #expect(found == wanted)
    }

    /// A scenario is written as the Swift source that makes it, so that one that failed can become a test.
    @Test("A scenario is printed as its source")
    func scenarioAsSource() throws {
        // Lines may be broken in other places, and lists may end with a comma.
        func plain(_ text: String) -> String {
            text.filter { !$0.isWhitespace }.replacing(",]", with: "]").replacing(",)", with: ")")
        }
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        #expect(plain(source).contains(plain(Self.written.description)), "\(Self.written)")
    }

    private static let written = Scenario(
        table: TablePlan(
            [TablePlan.Column("k", "TEXT", .binary), TablePlan.Column("c0", "TEXT", .noCase)], keyCount: 1),
        filling: [
            Scenario.Operation(
                "INSERT INTO rows(\"k\", \"c0\") VALUES (?, ?)", [.text("k0"), .text("\u{e9}\u{1f600}\\\"")])
        ],
        views: [
            Scenario.View(
                name: "a",
                filter: .all([.not(.isNull(column: "c0")), .among(column: "k", [.real(-1.5), .blob(Data([1]))])]),
                orderings: [RowOrdering("c0", .descending, collation: .binary)], limit: 3, offset: 1,
                kind: .list(margin: 2, isAnchored: false)),
            Scenario.View(
                name: "b",
                search: FieldWords(text: "a b", fields: ["c0"], isCaseSensitive: false, isExact: false),
                kind: .groups(Scenario.Groups(key: .length(of: "c0", modulo: 2), order: .mostFirst, limit: 2))),
            Scenario.View(
                name: "c", filter: .comparison(column: "k", .lessOrEqual, .value(.integer(.min)), collation: .noCase),
                kind: .aggregates(
                    groups: ["c0"], terms: [AggregateTerm(.count), AggregateTerm(.sum, "k")], extremes: 2)),
        ],
        relations: [
            .same("a", "b")
        ],
        steps: [
            .commit([Scenario.Operation("DELETE FROM rows", isUndone: true)]), .rollBack([]), .look,
            .move(view: "a", offset: 2),
        ],
        readsLog: false
    )
}
