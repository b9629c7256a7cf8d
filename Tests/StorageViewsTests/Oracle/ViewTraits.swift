/// What a view is like, and what is done to its rows: one value of each dimension, `plain` where there is nothing to it.
///
/// The search is one in columns. A full-text search takes an entity that is compiled, with an index beside its table:
/// `LiveSearchTests` hold it to the index.
struct ViewTraits: Sendable, Hashable {
    enum Filter: String, CaseIterable { case plain, equality, range, prefix, among, null, or, not, tree, sql }
    enum Order: String, CaseIterable { case plain, ascending, descending, twoColumns, collated }
    enum Window: String, CaseIterable { case plain, limit, offset, anchored, empty }
    enum Group: String, CaseIterable {
        case plain, column, columnByCount, computed, computedByCount, fixed, keptEmpty, limited
    }
    enum Aggregate: String, CaseIterable { case plain, count, sum, average, minimum, maximum, distinct }
    enum Search: String, CaseIterable { case plain, words, caseSensitive, exact }
    enum Operation: String, CaseIterable {
        case insert, update, keyChange, reinsert, sameRowTwice, nullEdge, replace, upsert, bulkUpdate, bulkDelete
        case rollback, savepoint
    }

    let filter: Filter
    let order: Order
    let window: Window
    let group: Group
    let aggregate: Aggregate
    let search: Search
    let operation: Operation

    /// The values' names by their dimensions.
    static let dimensions: [(name: String, values: [String])] = [
        ("filter", Filter.allCases.map(\.rawValue)), ("order", Order.allCases.map(\.rawValue)),
        ("window", Window.allCases.map(\.rawValue)), ("group", Group.allCases.map(\.rawValue)),
        ("aggregate", Aggregate.allCases.map(\.rawValue)), ("search", Search.allCases.map(\.rawValue)),
        ("operation", Operation.allCases.map(\.rawValue)),
    ]

    static let pairwise = Pairwise(counts: dimensions.map(\.values.count)) { row in
        isPossible(
            row[2].map { Window.allCases[$0] }, row[3].map { Group.allCases[$0] }, row[4].map { Aggregate.allCases[$0] }
        )
    }

    /// A grouped list has no window; aggregates are grouped by columns alone, and nothing anchors their window.
    private static func isPossible(_ window: Window?, _ group: Group?, _ aggregate: Aggregate?) -> Bool {
        if let group, group != .plain, group != .column {
            return aggregate ?? .plain == .plain && window ?? .plain == .plain
        }
        if window == .anchored { return group ?? .plain == .plain && aggregate ?? .plain == .plain }
        if let window, window != .plain, group == .column { return aggregate != .plain }
        return true
    }

    /// Any two values that can go together do so in one of them.
    static let rows = pairwise.rows()
}

extension ViewTraits {
    /// - Parameter row: The values' places in the dimensions.
    init(_ row: [Int]) {
        self.init(
            filter: Filter.allCases[row[0]], order: Order.allCases[row[1]], window: Window.allCases[row[2]],
            group: Group.allCases[row[3]], aggregate: Aggregate.allCases[row[4]], search: Search.allCases[row[5]],
            operation: Operation.allCases[row[6]])
    }

    /// The values' names, in the dimensions' order.
    var names: [String] {
        [
            filter.rawValue, order.rawValue, window.rawValue, group.rawValue, aggregate.rawValue, search.rawValue,
            operation.rawValue,
        ]
    }

    /// The values' places in the dimensions.
    var places: [Int] {
        zip(Self.dimensions, names).map { dimension, name in dimension.values.firstIndex(of: name) ?? 0 }
    }
}
