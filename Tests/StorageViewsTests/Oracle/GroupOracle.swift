import GRDB
import StorageCore
import StorageEntities
import Synchronization

@testable import StorageViews

/// A grouped list of a table's rows beside what SQLite answers at the same position, grouped in Swift.
struct GroupOracle: ViewOracle {
    typealias Row = [StorageValue]
    typealias Spec = GroupSpec<Row, StorageValue>

    let spec: Spec
    private let node: FollowedNode<GroupNode<Row, StorageValue>>
    private let seen = Seen()

    private final class Seen: Sendable {
        let keys = Mutex<Set<StorageValue>>([])
    }

    init(_ spec: Spec, _ engine: SubscriptionEngine, _ table: TablePlan = .standard) throws {
        self.spec = spec
        let keyCount = table.keyCount
        node = try FollowedNode(engine, stepFault: { $0.fault(on: $1) { Array($0.prefix(keyCount)) } }) {
            GroupNode(spec)
        }
    }

    var reported: (steps: Int, wholes: Int) { (node.state.steps, node.state.wholes) }
    var shown: [Row]? { node.state.error == nil && spec.limit == nil ? node.state.value.flatMap(\.items) : nil }
    var total: Int? { node.state.error == nil ? node.state.last?.total : nil }
    /// The steps that were emitted last.
    var steps: [GroupChange<StorageValue, Row>] { node.state.last?.changes ?? [] }

    func fault(_ db: GRDB.Database) throws -> Fault? {
        let state = node.state
        if let fault = state.fault { return fault }
        if let error = state.error { return Fault("group error", "\(error)") }
        let rows = try QuerySQL(spec.request, of: spec.form.table).select(limit: nil).rows(db)
        let wanted = Dictionary(grouping: rows, by: spec.key)
        let keys = state.value.map(\.key)
        let seen = self.seen.keys.withLock { seen in
            seen.formUnion(keys)
            return seen
        }
        let all = Set(wanted.keys).union(spec.fixedKeys).union(spec.keepsEmptyGroups ? seen : [])
        guard Set(keys) == all, Set(keys).count == keys.count else {
            return Fault("group keys", "\(keys) and not \(wanted.keys): \(spec.request)")
        }
        for section in state.value {
            let all = wanted[section.key] ?? []
            if section.count != all.count {
                return Fault("group count", "\(section.key): \(section.count) and not \(all.count)")
            }
            if section.items != Array(all.prefix(spec.limit ?? .max)) {
                return Fault("group rows", "\(section.key): \(section.items) and not \(all): \(spec.request)")
            }
        }
        for (left, right) in zip(state.value, state.value.dropFirst()) where isBefore(right, left) {
            return Fault("group order", "\(right.key) behind \(left.key)")
        }
        guard state.last?.total != rows.count else { return nil }
        return Fault("group total", "\(state.last?.total ?? -1) and not \(rows.count)")
    }

    private func isBefore(
        _ left: GroupSection<StorageValue, Row>, _ right: GroupSection<StorageValue, Row>
    ) -> Bool {
        switch spec.order.kind {
        case .keys(let comparison): comparison(left.key, right.key)
        case .counts(let ascending, let comparison):
            left.count == right.count
                ? comparison?(left.key, right.key) ?? false : (left.count < right.count) == ascending
        }
    }
}
