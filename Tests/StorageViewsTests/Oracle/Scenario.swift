import PredicateTestSupport
import StorageCore
import StorageEntities

@testable import StorageViews

/// A table, views of it, and what happens: everything that a run is made of, as data.
///
/// Its description is Swift source, so that a scenario that fails can be read, and put into a test.
struct Scenario: Sendable, Equatable {
    var table: TablePlan
    /// What is there before the views are opened, in one commit.
    var filling: [Operation] = []
    var views: [View]
    var relations: [Relation] = []
    var steps: [Step] = []
    /// Whether events are read from the log; otherwise they are handed over as they are committed.
    var readsLog = false

    /// One statement.
    struct Operation: Sendable, Equatable {
        var sql: String
        var values: [StorageValue] = []
        /// Whether a savepoint rolls it back, together with its neighbours of which the same is true.
        var isUndone = false

        init(_ sql: String, _ values: [StorageValue] = [], isUndone: Bool = false) {
            (self.sql, self.values, self.isUndone) = (sql, values, isUndone)
        }
    }

    enum Step: Sendable, Equatable {
        case commit([Operation])
        case rollBack([Operation])
        /// What was committed since the last look comes together.
        case look
        /// Shows another part of a list.
        case move(view: String, offset: Int)
    }

    struct View: Sendable, Equatable {
        var name: String
        var filter: RowPredicate?
        var search: FieldWords?
        var orderings: [RowOrdering] = []
        var limit: Int?
        var offset = 0
        var kind: Kind
    }

    enum Kind: Sendable, Equatable {
        case list(margin: Int = 2, isAnchored: Bool = false)
        case groups(Groups)
        case aggregates(groups: [String] = [], terms: [AggregateTerm], extremes: Int = 2)
    }

    struct Groups: Sendable, Equatable {
        var key: GroupKey
        var order: Order
        var fixedKeys: [StorageValue] = []
        var keepsEmptyGroups = false
        var limit: Int?

        enum Order: Sendable, Equatable { case key, reversedKey, fewestFirst, mostFirst }
    }

    enum GroupKey: Sendable, Equatable {
        case column(String)
        /// How long a column's value is written, divided by a number: what is left, so that many rows share a group.
        case length(of: String, modulo: Int)
    }

    /// What must hold between views, whatever SQLite answers.
    enum Relation: Sendable, Equatable {
        /// Both show the same rows in the same order.
        case same(String, String)
        /// The parts have no row in common, and all rows of the whole.
        case parts([String], of: String)
        /// One page after the other, the pages are the beginning of the whole.
        case pages([String], of: String)
        /// Both have as many rows, also those that aren't shown.
        case total(String, String)
    }

    /// How many statements there are.
    var operationCount: Int { filling.count + steps.reduce(0) { $0 + $1.operations.count } }
}

extension Scenario.Step {
    var operations: [Scenario.Operation] {
        get {
            switch self {
            case .commit(let operations), .rollBack(let operations): operations
            case .look, .move: []
            }
        }
        set {
            switch self {
            case .commit: self = .commit(newValue)
            case .rollBack: self = .rollBack(newValue)
            case .look, .move: break
            }
        }
    }
}

extension Scenario.Relation {
    /// The views that it is about.
    var views: [String] {
        switch self {
        case .same(let left, let right), .total(let left, let right): [left, right]
        case .parts(let parts, let whole), .pages(let parts, let whole): parts + [whole]
        }
    }
}

extension Scenario.View {
    func request(on table: QueryTable) throws -> RowRequest {
        let parts = [filter].compactMap { $0 } + (try search?.conditions(on: table) ?? [])
        let predicate: RowPredicate? = parts.count > 1 ? .all(parts) : parts.first
        return RowRequest(predicate: predicate, orderings: orderings, limit: limit, offset: offset)
    }
}

extension Scenario.GroupKey {
    func value(in row: [StorageValue], _ names: [String]) -> StorageValue {
        switch self {
        case .column(let name): names.firstIndex(of: name).map { row[$0] } ?? .null
        case .length(let name, let modulo):
            .integer(
                Int64(names.firstIndex(of: name).map { row[$0].description.utf8.count % max(1, modulo) } ?? 0))
        }
    }
}
