import GRDB
import StorageCore
import StorageEntities
import Synchronization

@testable import StorageViews

/// A live list of a table's rows beside what SQLite answers at the same position.
struct ListOracle: ViewOracle {
    typealias Row = [StorageValue]

    let spec: ListSpec<Row>
    private let node: FollowedNode<ListNode<Row>>
    private let anchor = Anchor()

    /// Where the list began when it was looked at last.
    private final class Anchor: Sendable {
        let state = Mutex<(first: Row, offset: Int, wholes: Int)?>(nil)
    }

    init(_ spec: ListSpec<Row>, _ engine: SubscriptionEngine, _ table: TablePlan = .standard) throws {
        self.spec = spec
        node = try FollowedNode(engine, stepFault: Self.stepFault(table)) { ListNode(spec) }
    }

    /// Reads what it begins with beside the engine.
    init(_ spec: ListSpec<Row>, beside engine: SubscriptionEngine, _ table: TablePlan = .standard) async throws {
        self.spec = spec
        node = try await FollowedNode(beside: engine, stepFault: Self.stepFault(table)) { ListNode(spec) }
    }

    private static func stepFault(_ table: TablePlan) -> FollowedNode<ListNode<Row>>.StepFault {
        let keyCount = table.keyCount
        return { $0.fault(on: $1) { Array($0.prefix(keyCount)) } }
    }

    var reported: (steps: Int, wholes: Int) { (node.state.steps, node.state.wholes) }
    var shown: [Row]? { node.state.error == nil ? node.state.value : nil }
    var total: Int? { node.state.error == nil ? node.state.last?.total : nil }

    func move(to offset: Int) throws {
        let limit = spec.request.limit
        try node.engine.now { engine in
            try engine.move(node.handle, offset: offset, limit: limit)
        }
    }

    /// A window that is anchored stays at its first row, as long as there are rows before it and the row doesn't change.
    private func anchorFault(_ state: FollowedNode<ListNode<Row>>.State, _ all: [Row]) -> Fault? {
        guard spec.isAnchored else { return nil }
        let offset = state.last?.offset ?? 0
        return anchor.state.withLock { before in
            let known = before
            before = state.value.first.map { ($0, offset, state.wholes) }
            guard let known, known.wholes == state.wholes, known.offset > 0, offset > 0, all.contains(known.first),
                known.first != state.value.first
            else { return nil }
            return Fault("list anchor", "\(state.value) and not from \(known.first) on, of \(all): \(spec.request)")
        }
    }

    func fault(_ db: GRDB.Database) throws -> Fault? {
        let state = node.state
        if let fault = state.fault { return fault }
        if let error = state.error { return Fault("list error", "\(error)") }
        var request = spec.request
        (request.limit, request.offset) = (nil, 0)
        let all = try QuerySQL(request, of: spec.form.table).select(limit: nil).rows(db)
        let wanted = Array(all.dropFirst(state.last?.offset ?? 0).prefix(spec.request.limit ?? .max))
        if state.value != wanted {
            return Fault("list rows", "\(state.value) and not \(wanted) of \(all.count): \(spec.request)")
        }
        if let fault = anchorFault(state, all) { return fault }
        guard spec.counts, state.last?.total != all.count else { return nil }
        return Fault("list total", "\(state.last?.total ?? -1) and not \(all.count): \(spec.request)")
    }
}
