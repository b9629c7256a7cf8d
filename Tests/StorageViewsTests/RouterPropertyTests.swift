import CSQLite
import GRDB
import PredicateTestSupport
import StorageCore
import Synchronization
import Testing

@testable import StorageLog
@testable import StorageRouting

/// Whoever is concerned by a change is reported, nobody else is, and what they are reported is right: held to evaluating every
/// condition on every row, with real commits of random statements.
@Suite struct RouterPropertyTests {
    /// Everything that one run needs, on the writer's queue.
    private final class Run {
        var generator: PredicateGenerator
        let router = Router()
        var oracle = RouterOracle()
        let changes = ChangeFold()
        var layout: RowLayout?
        var rows: CurrentRows?
        var before: [String: [StorageValue]] = [:]
        var faults: [String] = []
        var compared = 0
        /// The same changes as they are known without reading rows, and how many commits concerned nobody by them.
        let quick = ChangeFold()
        var skipped = 0
        private var isAsking = false

        init(seed: UInt64) { generator = PredicateGenerator(seed: seed) }

        func prepare(_ writer: LogWriter, _ db: GRDB.Database) throws {
            let layout = try RoutedStore.layout(writer)
            self.layout = layout
            rows = CurrentRows(db)
            router.add(layout)
            for _ in 0..<60 { try register() }
        }

        /// A few conditions that most rows don't meet, whose columns are asked for.
        func prepareQuick(_ writer: LogWriter, _ db: GRDB.Database) throws {
            let layout = try RoutedStore.layout(writer)
            self.layout = layout
            rows = CurrentRows(db)
            router.add(layout)
            for _ in 0..<3 {
                let condition =
                    generator.predicate(depth: 1)
                    && .comparison(column: "id", .equal, .value(.text("k\(Int.random(in: 0..<12, using: &generator))")))
                _ = try oracle.register(
                    try Bool.random(using: &generator) ? likely() : condition, affecting: [1], with: router, layout)
            }
            _ = try oracle.register(
                generator.predicate(depth: 1), valuesOf: "id", affecting: [1], with: router, layout)
            writer.observers.requestedColumns.request(Array(router.columnsOfConditions), for: self)
            isAsking = true
        }

        func register() throws {
            guard let layout else { return }
            let predicate =
                Bool.random(using: &generator) ? generator.predicate(depth: 3) : try likely()
            let affecting = RoutedStore.columns.indices.filter { _ in Int.random(in: 0..<4, using: &generator) == 0 }
            let isFoundByValues = Int.random(in: 0..<4, using: &generator) == 0
            let column = isFoundByValues ? RoutedStore.columns.randomElement(using: &generator) : nil
            _ = try oracle.register(
                column == nil || Bool.random(using: &generator) ? predicate : .constant(true), valuesOf: column,
                affecting: affecting, with: router, layout)
        }

        /// Gives other values to some of the subscriptions that are found by values.
        func changeValues() throws {
            for (token, subscription) in oracle.subscriptions {
                guard let column = subscription.column, Bool.random(using: &generator) else { continue }
                let added = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                    column == "id"
                        ? .text("k\(Int.random(in: 0..<12, using: &generator))") : generator.value()
                }
                try oracle.change(
                    token, adding: added, removing: Int.random(in: 0...3, using: &generator), in: router)
            }
        }

        /// A condition that rows often meet, of the shapes that the index has a place for.
        private func likely() throws -> RowPredicate {
            func column() -> String { RoutedStore.columns.randomElement(using: &generator) ?? "id" }
            func part() -> RowPredicate {
                switch Int.random(in: 0..<6, using: &generator) {
                case 0:
                    .comparison(column: "id", .equal, .value(.text("k\(Int.random(in: 0..<12, using: &generator))")))
                case 1: .hasPrefix(column(), ["a", "A", "1", "k1", "ab"].randomElement(using: &generator) ?? "a")
                case 2: .between(column: column(), .integer(-5), generator.value())
                case 3: .among(column: column(), (0..<3).map { _ in generator.value() })
                case 4: .isNull(column: column())
                default: .comparison(column: column(), .equal, .value(generator.value()))
                }
            }
            let first = part()
            return switch Int.random(in: 0..<3, using: &generator) {
            case 0: first
            case 1: first && part()
            default: first || part()
            }
        }

        func look(_ commit: RoutedStore.Commit) throws {
            guard rows != nil else { return }
            try changeValues()
            router.fill(changes) { $0.add(commit.view, commit.events, first: commit.first) }
            guard isAsking else { return try compare(to: RoutedStore.rows(commit.writer.database)) }
            router.fill(quick) {
                $0.add(commit.view, commit.events, first: commit.first, attached: commit.writer.attached)
            }
            let mayConcern = router.mayConcern(quick)
            if !mayConcern { skipped += 1 }
            let known = compared
            try compare(to: RoutedStore.rows(commit.writer.database))
            if !mayConcern, compared > known { faults.append("dismissed") }
            compareValues()
        }

        /// What is known without reading rows must be what reading them shows.
        private func compareValues() {
            guard quick.changes.count == changes.changes.count, let layout else {
                return faults.append("other changes")
            }
            let conditions = router.columnsOfConditions
            for (one, other) in zip(quick.changes, changes.changes) where changes.complete(other, from: rows) {
                for place in layout.columns.indices {
                    let images = [(quick.old(one), changes.old(other)), (quick.new(one), changes.new(other))]
                    for (index, (fast, slow)) in images.enumerated() where index == 0 ? one.existed : one.exists {
                        guard fast[place].isUnknown else {
                            if !fast[place].isSame(as: slow[place]) { faults.append("another value") }
                            continue
                        }
                        if conditions.contains(layout.columns[place].id) { faults.append("unknown value") }
                    }
                }
            }
        }

        /// Routes what is in `changes` and holds it to the difference of the tables.
        func compare(to after: [String: [StorageValue]]) throws {
            let reported = oracle.reported(router.route(changes, rows: rows), changes)
            let wanted = oracle.expected(before, after)
            before = after
            compared += wanted.count
            if Set(reported).count != reported.count { faults.append("reported twice") }
            for fault in Set(reported).symmetricDifference(wanted) {
                let predicate = oracle.subscriptions[fault.token].map { "\($0.predicate)" } ?? ""
                faults.append("\(wanted.contains(fault) ? "not reported" : "reported"): \(fault) of \(predicate)")
            }
        }
    }

    /// Sound as `@unchecked Sendable`: used on the writer's queue only.
    private final class Shared: @unchecked Sendable {
        let run: Run
        init(_ run: Run) { self.run = run }
    }

    /// Makes random commits, after each of which the run has looked for faults.
    private func commit(to engine: StorageEngine, statements: Int, _ shared: Shared, _ seed: UInt64) async throws {
        for _ in 0..<40 {
            _ = try await engine.commit(CommitMetadata()) { _, db in
                for _ in 0..<Int.random(in: 1...statements, using: &shared.run.generator) {
                    try RandomRows.run(db, &shared.run.generator)
                }
            }
        }
        let faults = shared.run.faults
        #expect(faults.isEmpty, "seed \(seed): \(faults.count) faults, \(faults.prefix(3).joined(separator: "\n"))")
    }

    @Test("Exactly the concerned subscriptions are found", arguments: RouterSettings.seeds(40, from: 1))
    func exactlyTheConcerned(seed: UInt64) async throws {
        let shared = Shared(Run(seed: seed))
        let engine = try await RoutedStore.open { try shared.run.look($0) }
        try await engine.withWriter { try shared.run.prepare($0, $1) }
        try await commit(to: engine, statements: 4, shared, seed)
        #expect(shared.run.compared > 100)
        #expect(shared.run.router.counters.fallbacks == 0)
    }

    /// What is decided on the writer's queue without reading rows never skips a commit that concerns somebody.
    @Test("A skipped commit concerns no subscription", arguments: RouterSettings.seeds(20, from: 500))
    func skippedCommitsAreIrrelevant(seed: UInt64) async throws {
        let shared = Shared(Run(seed: seed))
        let engine = try await RoutedStore.open { try shared.run.look($0) }
        try await engine.withWriter { try shared.run.prepareQuick($0, $1) }
        try await commit(to: engine, statements: 2, shared, seed)
        #expect(shared.run.skipped > 0, "seed \(seed)")
    }

    /// Catching up: many commits, read from the log, are one change for each row.
    @Test("Many commits are one change for each row", arguments: RouterSettings.seeds(10, from: 1_000))
    func manyCommitsAreOneChange(seed: UInt64) async throws {
        let shared = Shared(Run(seed: seed))
        let engine = try await RoutedStore.open { _ in }
        try await engine.withWriter { try shared.run.prepare($0, $1) }
        for _ in 0..<6 {
            let from = try await engine.withWriter { writer, _ in writer.head.position }
            for _ in 0..<8 {
                _ = try await engine.commit(CommitMetadata()) { _, db in
                    for _ in 0..<3 { try RandomRows.run(db, &shared.run.generator) }
                }
            }
            try await engine.withWriter { writer, _ in
                var batches: [EventBatch] = []
                try LogReader(writer.database).forEachBatch(in: from + 1...max(writer.head.position, from + 1)) {
                    batches.append($0)
                    return true
                }
                let run = shared.run
                try run.changeValues()
                run.router.fill(run.changes) { changes in
                    for batch in batches {
                        let skipped = Int(max(from + 1 - batch.positions.lowerBound, 0))
                        // The batches are held until the changes are routed.
                        batch.withView { changes.add($0, skipped..<$0.count, first: batch.positions.lowerBound) }
                    }
                }
                try withExtendedLifetime(batches) { try run.compare(to: RoutedStore.rows(writer.database)) }
            }
        }
        #expect(shared.run.faults.isEmpty, "seed \(seed): \(shared.run.faults.prefix(3).joined(separator: "\n"))")
        #expect(shared.run.router.counters.fallbacks == 0)
    }

    /// Subscriptions come and go between commits; the answers stay right, and at the end nothing is left.
    @Test("Coming and going leaves nothing behind", arguments: RouterSettings.seeds(10, from: 2_000))
    func nothingIsLeftBehind(seed: UInt64) async throws {
        let shared = Shared(Run(seed: seed))
        let engine = try await RoutedStore.open { try shared.run.look($0) }
        try await engine.withWriter { try shared.run.prepare($0, $1) }
        for _ in 0..<15 {
            _ = try await engine.commit(CommitMetadata()) { _, db in
                let run = shared.run
                for _ in 0..<100 { try run.register() }
                for token in run.oracle.subscriptions.keys where Bool.random(using: &run.generator) {
                    run.oracle.remove(token, from: run.router)
                    // Once more does no harm.
                    run.router.remove(token)
                }
                for _ in 0..<3 { try RandomRows.run(db, &run.generator) }
            }
        }
        #expect(shared.run.faults.isEmpty, "seed \(seed): \(shared.run.faults.prefix(3).joined(separator: "\n"))")
        #expect(shared.run.router.count == shared.run.oracle.subscriptions.count)
        for token in shared.run.oracle.subscriptions.keys { shared.run.router.remove(token) }
        #expect(shared.run.router.isEmpty)
    }
}
