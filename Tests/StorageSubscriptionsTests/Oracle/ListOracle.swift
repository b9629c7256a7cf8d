import GRDB
import StorageCore
import StorageProjections

@testable import StorageSubscriptions

/// A live list of a table's rows beside what SQLite answers at the same position.
struct ListOracle: ViewOracle {
    typealias Row = [StorageValue]

    let spec: ListSpec<Row>
    private let node: FollowedNode<ListNode<Row>>

    init(_ spec: ListSpec<Row>, _ engine: SubscriptionEngine, _ table: TablePlan = .standard) throws {
        self.spec = spec
        let keyCount = table.keyCount
        node = try FollowedNode(engine, stepFault: { $0.fault(on: $1) { Array($0.prefix(keyCount)) } }) {
            ListNode(spec)
        }
    }

    var told: (steps: Int, wholes: Int) { (node.state.steps, node.state.wholes) }
    var shown: [Row]? { node.state.error == nil ? node.state.value : nil }
    var total: Int? { node.state.error == nil ? node.state.last?.total : nil }

    func move(to offset: Int) throws {
        let limit = spec.request.limit
        try node.engine.now { engine in
            try engine.change(node.handle, as: ListNode<Row>.self) { node, snapshot in
                try node.move(offset: offset, limit: limit, snapshot)
            }
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
        guard spec.counts, state.last?.total != all.count else { return nil }
        return Fault("list total", "\(state.last?.total ?? -1) and not \(all.count): \(spec.request)")
    }
}
