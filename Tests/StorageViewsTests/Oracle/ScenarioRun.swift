import GRDB
import StorageCore
import TestSupport

@testable import StorageLog
@testable import StorageViews

/// Runs scenarios. Whenever the views are looked at, each is checked against the database and its relatives.
struct ScenarioRun {
    /// What came of it.
    struct Outcome: Sendable {
        var fault: Fault?
        /// How many steps the views have emitted, and how often everything, the first time not counted; by their names.
        var reported: [String: Int] = [:]
        var counters = EngineCounters()
    }

    /// Finds a fault with a view where there is none; for trying what becomes of faults.
    typealias Lie = @Sendable (any ViewOracle) -> Bool

    private struct Undone: Error {}

    private let scenario: Scenario
    private let lie: Lie?
    private let store: StorageEngine
    private let engine: SubscriptionEngine
    private let views: [(name: String, oracle: any ViewOracle)]
    private var pause: Hold?

    static func outcome(of scenario: Scenario, lie: Lie? = nil) async -> Outcome {
        do {
            var run = try await ScenarioRun(scenario, lie)
            return try await run.run()
        } catch {
            return Outcome(fault: isBugOfRTRIM(error, scenario) ? nil : Fault(thrown: error))
        }
    }

    /// SQLite 3.40.1 sometimes takes its own list of an IN for damaged where the column's collation is RTRIM: there is no
    /// answer to compare with.
    private static func isBugOfRTRIM(_ error: any Error, _ scenario: Scenario) -> Bool {
        "\(error)".contains("malformed") && scenario.table.columns.contains { $0.collation == .trimmed }
    }

    private init(_ scenario: Scenario, _ lie: Lie?) async throws {
        self.scenario = scenario
        self.lie = lie
        let store = try await RoutedStore.open(scenario.table) { _ in }
        self.store = store
        let source: any FeedSource = scenario.readsLog ? QuietSource(store) : LiveSource(store)
        let engine = SubscriptionEngine(source)
        self.engine = engine
        try await Self.commit(scenario.filling, to: store)
        views = try scenario.views.compactMap { view in
            do {
                return (view.name, try view.open(on: scenario.table, engine))
            } catch let error as StorageError where error.message.contains("integer overflow") {
                // SQLite can't sum up what is there at the beginning: there is no such view then.
                return nil
            }
        }
    }

    private mutating func run() async throws -> Outcome {
        defer { pause?.end() }
        var outcome = Outcome(fault: try await look())
        for step in scenario.steps where outcome.fault == nil {
            switch step {
            case .commit(let operations):
                await hold()
                try await Self.commit(operations, to: store)
            case .rollBack(let operations):
                await hold()
                try await Self.commit(operations, to: store, isUndone: true)
            case .look:
                letGo()
                await engine.catchUp()
                outcome.fault = try await look()
            case .move(let name, let offset):
                letGo()
                try views.first { $0.name == name }?.oracle.move(to: offset)
                outcome.fault = try await look()
            }
        }
        letGo()
        for view in views {
            outcome.reported[view.name] = view.oracle.reported.steps + view.oracle.reported.wholes - 1
        }
        outcome.counters = await engine.counters
        return outcome
    }

    /// Commits come together until somebody looks, and always in the same way.
    private mutating func hold() async {
        guard pause == nil else { return }
        pause = await Hold { [engine] body in engine.now { _ in body() } }
    }

    private mutating func letGo() {
        pause?.end()
        pause = nil
    }

    // MARK: Writing

    private static func commit(
        _ operations: [Scenario.Operation], to store: StorageEngine, isUndone: Bool = false
    ) async throws {
        do {
            _ = try await store.commit(CommitMetadata()) { _, db in
                var rest = operations[...]
                while let first = rest.first {
                    let part = rest.prefix { $0.isUndone == first.isUndone }
                    rest = rest.dropFirst(part.count)
                    guard first.isUndone else {
                        for operation in part { try run(operation, db) }
                        continue
                    }
                    try db.inSavepoint {
                        for operation in part { try run(operation, db) }
                        return .rollback
                    }
                }
                if isUndone { throw Undone() }
            }
        } catch is Undone {
        }
    }

    /// What a constraint forbids doesn't happen, and the transaction continues.
    private static func run(_ operation: Scenario.Operation, _ db: GRDB.Database) throws {
        do {
            try db.execute(sql: operation.sql, arguments: StatementArguments(operation.values))
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
        } catch let error as DatabaseError where error.resultCode == .SQLITE_MISMATCH {
        }
    }

    // MARK: Looking

    private func look() async throws -> Fault? {
        let (views, relations, lie) = (views, scenario.relations, lie)
        return try await store.read { db in
            for view in views {
                if let fault = try view.oracle.fault(db) { return Fault(fault.kind, "\(view.name): \(fault.text)") }
                if lie?(view.oracle) == true { return Fault("lie", view.name) }
            }
            let oracles = Dictionary(views.map { ($0.name, $0.oracle) }, uniquingKeysWith: { first, _ in first })
            return relations.lazy.compactMap { $0.fault(among: oracles) }.first
        }
    }
}

extension Scenario.Relation {
    func fault(among oracles: [String: any ViewOracle]) -> Fault? {
        switch self {
        case .same(let left, let right):
            guard let one = oracles[left]?.shown, let other = oracles[right]?.shown, one != other else { return nil }
            return Fault("relation same", "\(left) \(one), \(right) \(other)")
        case .parts(let names, let name):
            let parts = names.compactMap { oracles[$0]?.shown }
            guard parts.count == names.count, let whole = oracles[name]?.shown else { return nil }
            let counted = parts.joined().reduce(into: [:]) { $0[$1, default: 0] += 1 }
            if counted == whole.reduce(into: [:], { $0[$1, default: 0] += 1 }) { return nil }
            return Fault("relation parts", "\(names) \(parts), \(name) \(whole)")
        case .pages(let names, let name):
            let pages = names.compactMap { oracles[$0]?.shown }
            guard pages.count == names.count, let whole = oracles[name]?.shown else { return nil }
            let rows = Array(pages.joined())
            if rows == Array(whole.prefix(rows.count)) { return nil }
            return Fault("relation pages", "\(names) \(pages), \(name) \(whole)")
        case .total(let left, let right):
            guard let one = oracles[left]?.total, let other = oracles[right]?.total, one != other else { return nil }
            return Fault("relation total", "\(left) \(one), \(right) \(other)")
        }
    }
}
