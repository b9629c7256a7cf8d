import CSQLite
import GRDB
import PredicateTestSupport
import StorageCore
import StorageProjections
import Synchronization

@testable import StorageLog
@testable import StorageSubscriptions

/// A live list of ``RoutedStore``'s rows beside what SQLite answers at the same position.
final class ListOracle: Sendable {
    typealias Row = [StorageValue]

    let spec: ListSpec<Row>
    private let handle: LiveHandle
    private let engine: SubscriptionEngine
    private let told: Told

    /// What the list has told so far.
    final class Told: Sendable {
        struct State {
            var rows: [Row] = []
            var total: Int?
            var offset = 0
            var position: Int64 = 0
            var error: StorageError?
            var wholes = 0
        }

        let state = Mutex(State())

        func take(_ update: ListUpdate<Row>) {
            state.withLock { state in
                state.error = update.error
                guard update.error == nil else { return }
                if update.whole != nil { state.wholes += 1 }
                // Places that aren't there would stop the program: every difference is a legal one.
                update.difference.apply(to: &state.rows)
                (state.total, state.offset, state.position) = (update.total, update.offset, update.position)
            }
        }
    }

    static let table: TableShape = {
        var entity = CatalogEntity(id: 1, name: "rows", stored: "rows", columns: [])
        for (place, name) in RoutedStore.columns.enumerated() {
            entity.columns.append(
                CatalogColumn(id: UInt32(place + 2), name: name, type: "", keyPlace: place == 0 ? 1 : 0))
        }
        return TableShape(entity)
    }()

    static let form = RowForm<Row>(table: table) { statement in
        let row = RowReader(statement: statement)
        return table.columns.indices.map { row.value(at: Int32($0)) }
    }

    init(_ spec: ListSpec<Row>, _ engine: SubscriptionEngine) throws {
        self.spec = spec
        self.engine = engine
        let told = Told()
        self.told = told
        handle = try engine.now { try $0.add(ListNode(spec), Outlet { told.take($0) }) }
    }

    /// How often it told everything.
    var wholes: Int { told.state.withLock { $0.wholes } }

    func move(to offset: Int) throws {
        let limit = spec.request.limit
        try engine.now { engine in
            try engine.change(handle, as: ListNode<Row>.self) { node, snapshot in
                try node.move(offset: offset, limit: limit, snapshot)
            }
        }
    }

    /// - Returns: What is wrong; nil where nothing is.
    func fault(_ db: GRDB.Database) throws -> String? {
        let state = told.state.withLock { $0 }
        var request = spec.request
        (request.limit, request.offset) = (nil, 0)
        let all = try QuerySQL(request, of: Self.table).select(limit: nil).run(db) { statement in
            let found = StatementRows(statement: statement)
            var rows: [Row] = []
            while try found.next() { rows.append(try Self.form.read(statement)) }
            return rows
        }
        let wanted = Array(all.dropFirst(state.offset).prefix(spec.request.limit ?? .max))
        if state.rows != wanted {
            return
                "\(spec.request) anchored: \(spec.isAnchored): \(state.rows.map(\.[0])) and not \(wanted.map(\.[0])) of \(all.count)"
        }
        if spec.counts, state.total != all.count { return "\(spec.request): \(state.total ?? -1) of \(all.count)" }
        return state.error.map { "\($0)" }
    }
}
