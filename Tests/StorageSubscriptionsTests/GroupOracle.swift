import GRDB
import PredicateTestSupport
import StorageCore
import StorageProjections
import Synchronization

@testable import StorageLog
@testable import StorageSubscriptions

/// A grouped list of ``RoutedStore``'s rows beside what SQLite answers at the same position, grouped in Swift.
final class GroupOracle: Sendable {
    typealias Row = [StorageValue]
    typealias Spec = GroupSpec<Row, StorageValue>

    let spec: Spec
    private let handle: LiveHandle
    private let told: Told

    final class Told: Sendable {
        struct State {
            var sections: [GroupSection<StorageValue, Row>] = []
            var total = 0
            var error: StorageError?
            var seen: Set<StorageValue> = []
            var moves = 0
            var sectionMoves = 0
        }

        let state = Mutex(State())

        func take(_ update: GroupUpdate<StorageValue, Row>) {
            state.withLock { state in
                state.error = update.error
                guard update.error == nil else { return }
                // Places that aren't there would stop the program: every difference is a legal one.
                update.difference.apply(to: &state.sections)
                state.total = update.total
                state.seen.formUnion(state.sections.map(\.key))
                for change in update.changes {
                    if case .move(_, let from, let to) = change, from.section != to.section { state.moves += 1 }
                    if case .moveSection = change { state.sectionMoves += 1 }
                }
            }
        }
    }

    init(_ spec: Spec, _ engine: SubscriptionEngine) throws {
        self.spec = spec
        let told = Told()
        self.told = told
        handle = try engine.now { try $0.add(GroupNode(spec), Outlet { told.take($0) }) }
    }

    /// How often a row moved from one group to another, and how often a group moved.
    var moves: Int { told.state.withLock { $0.moves } }
    var sectionMoves: Int { told.state.withLock { $0.sectionMoves } }

    /// - Returns: What is wrong; nil where nothing is.
    func fault(_ db: GRDB.Database) throws -> String? {
        let state = told.state.withLock { $0 }
        if let error = state.error { return "\(error)" }
        let rows = try QuerySQL(spec.request, of: ListOracle.table).select(limit: nil).run(db) { statement in
            let found = StatementRows(statement: statement)
            var rows: [Row] = []
            while try found.next() { rows.append(try ListOracle.form.read(statement)) }
            return rows
        }
        let wanted = Dictionary(grouping: rows, by: spec.key)
        let keys = state.sections.map(\.key)
        let extra = spec.fixedKeys + (spec.keepsEmptyGroups ? Array(state.seen) : [])
        guard Set(keys) == Set(wanted.keys).union(extra), Set(keys).count == keys.count else {
            return "\(keys) and not \(wanted.keys): \(spec.request)"
        }
        for section in state.sections {
            let all = wanted[section.key] ?? []
            if section.count != all.count { return "\(section.key): \(section.count) and not \(all.count)" }
            if section.items != Array(all.prefix(spec.limit ?? .max)) {
                return "\(section.key): \(section.items.map(\.[0])) and not \(all.map(\.[0])): \(spec.request)"
            }
        }
        for (left, right) in zip(state.sections, state.sections.dropFirst()) where isBefore(right, left) {
            return "\(right.key) behind \(left.key)"
        }
        return state.total == rows.count ? nil : "\(state.total) and not \(rows.count)"
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
