import GRDB
import StorageCore
import StorageEntities

@testable import StorageViews

/// A live view beside what SQLite answers at the same position.
protocol ViewOracle: Sendable {
    /// - Returns: What is wrong; nil where nothing is.
    func fault(_ db: GRDB.Database) throws -> Fault?
    /// Shows another part of the rows, where it shows a part.
    func move(to offset: Int) throws
    /// The rows that are shown; nil where they aren't all known, or something went wrong.
    var shown: [[StorageValue]]? { get }
    /// How many rows there are in all; nil where that isn't known, or something went wrong.
    var total: Int? { get }
    /// How many steps have been emitted, and how often everything.
    var reported: (steps: Int, wholes: Int) { get }
}

extension ViewOracle {
    func move(to offset: Int) throws {}
}

extension Scenario.View {
    /// Whether each change can be taken in by itself, without asking the database for everything.
    func goesStepByStep(on table: TablePlan) -> Bool {
        if case .aggregates = kind, limit != nil { return false }
        return (try? request(on: table.shape).predicate?.isEvaluable ?? true) ?? false
    }

    /// Opens the view.
    func open(on table: TablePlan, _ engine: SubscriptionEngine) throws -> any ViewOracle {
        let request = try request(on: table.shape)
        switch kind {
        case .list(let margin, let isAnchored):
            let spec = ListSpec(table.form, request, counts: true, margin: margin, isAnchored: isAnchored)
            return try ListOracle(spec, engine, table)
        case .groups(let groups):
            let names = table.names
            let spec = GroupOracle.Spec(
                table.form, request, order: groups.order.order, fixedKeys: groups.fixedKeys,
                keepsEmptyGroups: groups.keepsEmptyGroups, limit: groups.limit
            ) { groups.key.value(in: $0, names) }
            return try GroupOracle(spec, engine, table)
        case .aggregates(let groups, let terms, let extremes):
            var spec = AggregateSpec(table.shape, request, groups: groups, terms: terms)
            spec.extremeCount = extremes
            return try AggregateOracle(spec, engine, table)
        }
    }
}

extension Scenario.Groups.Order {
    var order: GroupOrder<StorageValue> {
        switch self {
        case .key: .custom { $0.description < $1.description }
        case .reversedKey: .custom { $0.description > $1.description }
        case .fewestFirst: .count(ascending: true)
        case .mostFirst: .count(ascending: false)
        }
    }
}
