internal import StorageCore
internal import StorageEntities
internal import StorageRouting

/// The rows that one inclusion adds to its owners, live: a list for each owner's value, as long as an owner is shown.
///
/// Isolation: not `Sendable`; it belongs to a node.
protocol IncludedLevel<Owner>: AnyObject {
    associatedtype Owner: RegisteredEntity

    /// Which changes matter: those of its rows, then those of levels below.
    var interests: [Interest] { get }
    var interestCount: Int { get }
    func bind(to layouts: ArraySlice<RowLayout>) throws
    /// What the list of a value is known by; nil for NULL, which has none.
    func key(of value: StorageValue) -> [UInt8]?
    /// Shows the list of a value, which another owner has now.
    func retain(_ value: StorageValue, _ key: [UInt8], _ snapshot: Snapshot) throws
    /// An owner less has a value.
    func release(_ key: [UInt8])
    func removeAll()
    /// Takes in a change.
    ///
    /// - Parameter interest: By which of its interests it was found.
    func apply(_ change: ChangedRow, by interest: Int, in snapshot: Snapshot) throws
    /// Makes of the changes that were applied what is shown, here and below.
    func finishStep(_ snapshot: Snapshot) throws
    /// Whether the step has brought something.
    var hasChanges: Bool { get }
    /// Whether it has brought something to the list of a value.
    func hasChanged(_ key: [UInt8]) -> Bool
    /// Puts the list of a value into its owner.
    func fill(_ owner: inout Owner, _ value: StorageValue)
    /// How many rows it holds, here and below.
    var rowCount: Int { get }
}

extension Inclusion {
    func makeLevel() throws -> any IncludedLevel<Owner> { try InclusionLevel(self) }
}

/// The level of one kind of inclusion.
final class InclusionLevel<Included: Inclusion>: IncludedLevel {
    typealias Owner = Included.Owner
    private typealias List = IncludedList<Included.Related>

    /// How many rows are kept ready behind those of a limit.
    private static var margin: Int { 4 }

    private let inclusion: Included
    private let form: RowForm<OwnerRow<Included.Related>>
    private let levels: [any IncludedLevel<Included.Related>]
    private let own: [Interest]
    private var layouts: [RowLayout] = []
    private var reader: RelatedKey?
    private var lists: [[UInt8]: List] = [:]
    private var touched: Set<[UInt8]> = []
    private var changed: Set<[UInt8]> = []

    init(_ inclusion: Included) throws {
        self.inclusion = inclusion
        let request = inclusion.request
        form = try .owner(reading: request.inclusions.map(\.relation.column))
        levels = try request.inclusions.map { try $0.makeLevel() }
        own = Interest(entity: form.table.name, predicate: request.rows.predicate).with(request.rows.relations)
        interestCount = levels.reduce(own.count) { $0 + $1.interestCount }
    }

    var interests: [Interest] { own + levels.flatMap(\.interests) }
    let interestCount: Int

    func bind(to layouts: ArraySlice<RowLayout>) throws {
        self.layouts = Array(layouts.prefix(own.count))
        reader = try RelatedKey(inclusion.relation, in: self.layouts[0])
        removeAll()
        try levels.bind(to: layouts.dropFirst(own.count))
    }

    // MARK: Owners

    func key(of value: StorageValue) -> [UInt8]? { reader?.key(of: value) }

    func retain(_ value: StorageValue, _ key: [UInt8], _ snapshot: Snapshot) throws {
        if let list = lists[key] {
            list.ownerCount += 1
            return
        }
        let rows = inclusion.rows(of: value)
        let list = List(ListSpec(form, rows, margin: rows.limit == nil ? nil : Self.margin))
        try list.node.bind(to: layouts)
        list.ownerCount = 1
        lists[key] = list
        _ = try list.reload(levels, snapshot)
    }

    func release(_ key: [UInt8]) {
        guard let list = lists[key] else { return }
        list.ownerCount -= 1
        guard list.ownerCount == 0 else { return }
        lists[key] = nil
        for (index, level) in levels.enumerated() {
            for keys in list.keys {
                if let key = keys[index] { level.release(key) }
            }
        }
    }

    func removeAll() {
        lists = [:]
        touched = []
        changed = []
        for level in levels { level.removeAll() }
    }

    func fill(_ owner: inout Owner, _ value: StorageValue) {
        let list = key(of: value).flatMap { lists[$0] }
        inclusion.put(list?.shown.map { List.filled($0, levels) } ?? [], into: &owner)
    }

    var rowCount: Int { lists.values.reduce(0) { $0 + $1.shown.count } + levels.reduce(0) { $0 + $1.rowCount } }

    // MARK: Changes

    func apply(_ change: ChangedRow, by interest: Int, in snapshot: Snapshot) throws {
        guard interest == 0 else {
            // Conditions on rows that the included ones are related to are for the database.
            guard interest >= own.count else { throw StaleNode() }
            return try levels.apply(change, by: interest - own.count, in: snapshot)
        }
        guard let reader else { throw StaleNode() }
        let old = change.effect == .enter ? nil : try reader.key(of: change, .old)
        let new = change.effect == .leave ? nil : try reader.key(of: change, .new)
        if old == new { return try apply(change, to: old, in: snapshot) }
        // The row goes from one owner to another.
        var step = change
        step.effect = .leave
        try apply(step, to: old, in: snapshot)
        step.effect = .enter
        try apply(step, to: new, in: snapshot)
    }

    private func apply(_ change: ChangedRow, to key: [UInt8]?, in snapshot: Snapshot) throws {
        guard let key, let list = lists[key] else { return }
        touched.insert(key)
        try list.node.apply(change, in: snapshot)
    }

    func finishStep(_ snapshot: Snapshot) throws {
        changed = []
        for key in touched where try lists[key]?.settle(levels, snapshot) != nil { changed.insert(key) }
        touched = []
        for level in levels { try level.finishStep(snapshot) }
        guard levels.contains(where: \.hasChanges) else { return }
        for (key, list) in lists where list.hasChanges(levels) { changed.insert(key) }
    }

    var hasChanges: Bool { !changed.isEmpty }

    func hasChanged(_ key: [UInt8]) -> Bool { changed.contains(key) }
}

// MARK: Several levels beside each other

extension Array {
    /// Gives each level the layouts of its interests.
    func bind<Owner>(to layouts: ArraySlice<RowLayout>) throws where Element == any IncludedLevel<Owner> {
        var rest = layouts
        for level in self {
            try level.bind(to: rest.prefix(level.interestCount))
            rest = rest.dropFirst(level.interestCount)
        }
    }

    /// Gives a change to the level that it was found by.
    ///
    /// - Parameter interest: The number among the interests of all levels.
    func apply<Owner>(
        _ change: ChangedRow, by interest: Int, in snapshot: Snapshot
    ) throws where Element == any IncludedLevel<Owner> {
        var interest = interest
        for level in self {
            if interest < level.interestCount { return try level.apply(change, by: interest, in: snapshot) }
            interest -= level.interestCount
        }
    }
}
