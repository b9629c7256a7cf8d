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
    private let interest: Interest
    /// Which of the related rows conditions on rows that they are related to let in; nil where there are none.
    private let membership: RelatedMembership?
    private let below: [any RelatedLevel]
    private let make: (StorageValue, RowLayout) throws -> Content
    private let put: (Content?, inout Owner) -> Void
    private var layout: RowLayout?
    private var reader: RelatedKey?
    private var contents: [[UInt8]: Keyed] = [:]
    /// Whether the values that there is a content for are others than those of the interests that were taken last.
    private var hasOtherValues = false
    private var touched: Set<[UInt8]> = []
    private var changed: Set<[UInt8]> = []

    /// - Parameters:
    ///   - interest: Which changes of related rows matter to the contents.
    ///   - membership: Which of them count.
    ///   - below: The levels that contents make use of.
    ///   - make: Makes the content for a value, which knows the layout of the related rows.
    ///   - put: Puts a content into an owner.
    init(
        _ relation: Relation, interest: Interest, membership: RelatedMembership? = nil,
        below: [any RelatedLevel] = [],
        make: @escaping (StorageValue, RowLayout) throws -> Content, put: @escaping (Content?, inout Owner) -> Void
    ) {
        self.relation = relation
        self.interest = interest
        self.membership = membership
        self.below = below
        self.make = make
        self.put = put
        ownCount = 1 + (membership?.interestCount ?? 0)
        interestCount = below.reduce(ownCount) { $0 + $1.interestCount }
    }

    /// Of the related rows, only those of a value that there is a content for.
    var interests: [Interest] {
        let own = shown.map { interest.narrowed(to: $0) } ?? interest
        return [own] + (membership?.interests ?? []) + below.flatMap(\.interests)
    }
    /// The condition that a row belongs to a content; nil where there are too many to look for.
    private var shown: RowPredicate? {
        guard contents.count <= Router.longestList else { return nil }
        return .among(column: relation.otherColumn, contents.values.map(\.value))
    }

    let interestCount: Int
    /// How many of the interests are those of the related rows and their conditions.
    private let ownCount: Int

    func takeChangedInterests() -> [Int] {
        defer { hasOtherValues = false }
        return (hasOtherValues ? [0] : []) + below.takeChangedInterests().map { ownCount + $0 }
    }

    func bind(to layouts: ArraySlice<RowLayout>) throws {
        guard let layout = layouts.first else { throw StaleNode() }
        self.layout = layout
        reader = try RelatedKey(relation, in: layout)
        removeAll()
        try membership?.bind(to: layout, related: layouts.prefix(ownCount).dropFirst())
        try below.bind(to: layouts.dropFirst(ownCount))
    }

    // MARK: Owners

    func key(of value: StorageValue) -> [UInt8]? { reader?.key(of: value) }

    func retain(_ value: StorageValue, as key: [UInt8], in snapshot: Snapshot) throws {
        guard contents[key] == nil else {
            contents[key]?.ownerCount += 1
            return
        }
        guard let layout else { throw StaleNode() }
        let content = try make(value, layout)
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
        membership?.removeAll()
        for level in below { level.removeAll() }
    }

    func fill(_ owner: inout Owner, _ value: StorageValue) {
        put(key(of: value).flatMap { contents[$0]?.content }, &owner)
    }

    var rowCount: Int { contents.values.reduce(below.rowCount) { $0 + $1.content.rowCount } }

    // MARK: Changes

    func apply(_ change: ChangedRow, by interest: Int, in snapshot: Snapshot) throws {
        guard interest < ownCount else { return try below.apply(change, by: interest - ownCount, in: snapshot) }
        guard let membership else { return try apply(change, in: snapshot) }
        if interest == 0 { membership.apply(change) } else { try membership.apply(change, by: interest - 1) }
    }

    func applyConditions(_ snapshot: Snapshot) throws {
        for change in try membership?.takeChanges(snapshot, among: shown) ?? [] { try apply(change, in: snapshot) }
        for level in below { try level.applyConditions(snapshot) }
    }

    /// Applies a change of a related row to those of its owners that there is a content for.
    private func apply(_ change: ChangedRow, in snapshot: Snapshot) throws {
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
