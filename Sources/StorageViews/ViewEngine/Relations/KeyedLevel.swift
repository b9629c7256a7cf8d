internal import StorageCore
internal import StorageEntities
internal import StorageRouting

/// What a level keeps for the rows that are related to one value.
protocol RelatedContent: AnyObject {
    /// Reads everything.
    func reload(_ snapshot: Snapshot) throws
    func apply(_ change: ChangedRow, in snapshot: Snapshot) throws
    /// Makes of the changes that were applied what is shown.
    ///
    /// - Returns: Whether something is new.
    func finishStep(_ snapshot: Snapshot) throws -> Bool
    /// Whether a level below has something new for one of its rows.
    var hasChangesBelow: Bool { get }
    /// Gives up what levels below keep for it.
    func release()
    var rowCount: Int { get }
}

/// A level that keeps a content for each value that an owner has, as long as one is shown: those who refer to one parent share
/// it.
final class KeyedLevel<Owner: Sendable, Content: RelatedContent>: IncludedLevel {
    /// A content, what it is found by, and how many owners share it.
    private struct Keyed {
        let content: Content
        let value: StorageValue
        var ownerCount = 1
    }

    private let relation: Relation
    private let own: [Interest]
    private let below: [any RelatedLevel]
    private let make: (StorageValue, [RowLayout]) throws -> Content
    private let put: (Content?, inout Owner) -> Void
    private var layouts: [RowLayout] = []
    private var reader: RelatedKey?
    private var contents: [[UInt8]: Keyed] = [:]
    /// Whether the values that there is a content for are others than those of the interests that were taken last.
    private var hasOtherValues = false
    private var touched: Set<[UInt8]> = []
    private var changed: Set<[UInt8]> = []

    /// - Parameters:
    ///   - interests: Which changes matter to the contents; the first is that of the related rows.
    ///   - below: The levels that contents make use of.
    ///   - make: Makes the content for a value, which knows the layouts of the interests.
    ///   - put: Puts a content into an owner.
    init(
        _ relation: Relation, interests: [Interest], below: [any RelatedLevel] = [],
        make: @escaping (StorageValue, [RowLayout]) throws -> Content, put: @escaping (Content?, inout Owner) -> Void
    ) {
        self.relation = relation
        own = interests
        self.below = below
        self.make = make
        self.put = put
        interestCount = below.reduce(interests.count) { $0 + $1.interestCount }
    }

    /// Of the related rows, only those of a value that there is a content for.
    var interests: [Interest] {
        var own = own
        if contents.count <= Router.longestList {
            own[0] = own[0].narrowed(to: .among(column: relation.otherColumn, contents.values.map(\.value)))
        }
        return own + below.flatMap(\.interests)
    }
    let interestCount: Int

    func takeChangedInterests() -> [Int] {
        defer { hasOtherValues = false }
        return (hasOtherValues ? [0] : []) + below.takeChangedInterests().map { own.count + $0 }
    }

    func bind(to layouts: ArraySlice<RowLayout>) throws {
        self.layouts = Array(layouts.prefix(own.count))
        reader = try RelatedKey(relation, in: self.layouts[0])
        removeAll()
        try below.bind(to: layouts.dropFirst(own.count))
    }

    // MARK: Owners

    func key(of value: StorageValue) -> [UInt8]? { reader?.key(of: value) }

    func retain(_ value: StorageValue, as key: [UInt8], in snapshot: Snapshot) throws {
        guard contents[key] == nil else {
            contents[key]?.ownerCount += 1
            return
        }
        let content = try make(value, layouts)
        noteValues(before: contents.count, after: contents.count + 1)
        contents[key] = Keyed(content: content, value: value)
        try content.reload(snapshot)
    }

    func release(_ key: [UInt8]) {
        guard let keyed = contents[key] else { return }
        guard keyed.ownerCount == 1 else {
            contents[key]?.ownerCount -= 1
            return
        }
        noteValues(before: contents.count, after: contents.count - 1)
        contents[key] = nil
        keyed.content.release()
    }

    /// Notes that there are other values, unless there are too many to look for, before as well as after.
    private func noteValues(before: Int, after: Int) {
        if min(before, after) <= Router.longestList { hasOtherValues = true }
    }

    func removeAll() {
        if !contents.isEmpty { hasOtherValues = true }
        contents = [:]
        touched = []
        changed = []
        for level in below { level.removeAll() }
    }

    func fill(_ owner: inout Owner, _ value: StorageValue) {
        put(key(of: value).flatMap { contents[$0]?.content }, &owner)
    }

    var rowCount: Int { contents.values.reduce(below.rowCount) { $0 + $1.content.rowCount } }

    // MARK: Changes

    func apply(_ change: ChangedRow, by interest: Int, in snapshot: Snapshot) throws {
        guard interest == 0 else {
            // Conditions on rows that the related ones are related to are for the database.
            guard interest >= own.count else { throw StaleNode() }
            return try below.apply(change, by: interest - own.count, in: snapshot)
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
        guard let key, let content = contents[key]?.content else { return }
        touched.insert(key)
        try content.apply(change, in: snapshot)
    }

    func finishStep(_ snapshot: Snapshot) throws {
        changed = []
        for key in touched where try contents[key]?.content.finishStep(snapshot) == true { changed.insert(key) }
        touched = []
        for level in below { try level.finishStep(snapshot) }
        guard below.contains(where: \.hasChanges) else { return }
        for (key, keyed) in contents where keyed.content.hasChangesBelow { changed.insert(key) }
    }

    var hasChanges: Bool { !changed.isEmpty }

    func hasChanged(_ key: [UInt8]) -> Bool { changed.contains(key) }
}
