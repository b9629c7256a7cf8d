internal import StorageCore
internal import StorageEntities
internal import StorageRouting

/// What a level keeps for the rows that are related to one value.
protocol RelatedContent: AnyObject {
    /// Reads everything.
    func reload(_ snapshot: Snapshot) throws
    func apply(_ change: ChangedRow, in snapshot: Snapshot) throws
    /// Updates what is shown from the applied changes.
    ///
    /// - Returns: Whether anything has changed.
    func finishStep(_ snapshot: Snapshot) throws -> Bool
    /// Its number in the level and as an owner in levels below. Set by the level before any other call.
    var number: Int32 { get set }
    /// Gives up what levels below keep for it.
    func release()
    var rowCount: Int { get }
}

/// A level that keeps a content for each value of its owners, as long as a row with that value is shown: owners with
/// the same parent share it.
final class KeyedLevel<Owner: Sendable, Content: RelatedContent>: IncludedLevel {
    /// A content, its key, and its owners.
    private struct Keyed {
        let content: Content
        let key: [UInt8]
        let value: StorageValue
        var owners: ContentOwners
    }

    private let relation: Relation
    /// Which related rows matter: only those of a value that there is a content for.
    private let interest: Interest
    /// The conditions that related rows must meet on rows related to them; nil if there are none.
    private let membership: RelatedMembership?
    private let below: [any RelatedLevel]
    private let make: (StorageValue, RowLayout) throws -> Content
    private let put: (Content?, inout Owner) -> Void
    private var layout: RowLayout?
    private var reader: RelatedKey?
    /// The contents by their numbers; nil where a number is free.
    private var contents = SlotArray<Keyed?>()
    /// The contents' numbers by the keys of their values.
    private var numbers: [[UInt8]: Int32] = [:]
    /// Values whose content was added or removed since the last `takeValues(all:)`.
    private var changedValues: [[UInt8]: (value: StorageValue, isAdded: Bool)] = [:]
    /// The contents that the step's changes were applied to, and those that it has changed.
    private var touched: Set<Int32> = []
    private var changed: Set<Int32> = []
    private(set) var isChanged: [Bool] = []
    /// How many rows the contents have.
    private var contentRowCount = 0

    /// - Parameters:
    ///   - interest: The changes of related rows that affect the contents.
    ///   - purpose: The purpose of reading its rows.
    ///   - membership: The conditions that related rows must meet.
    ///   - below: The levels that contents use.
    ///   - make: Creates the content for a value, given the layout of the related rows.
    ///   - put: Puts a content into an owner.
    init(
        _ relation: Relation, interest: Interest, for purpose: SubscriptionExplanation.Purpose = .include,
        membership: RelatedMembership? = nil, below: [any RelatedLevel] = [],
        make: @escaping (StorageValue, RowLayout) throws -> Content, put: @escaping (Content?, inout Owner) -> Void
    ) {
        self.relation = relation
        self.interest = interest.related(by: relation, for: purpose).holdingValues(of: relation.otherColumn)
        self.membership = membership
        self.below = below
        self.make = make
        self.put = put
        ownCount = 1 + (membership?.interestCount ?? 0)
        interestCount = below.reduce(ownCount) { $0 + $1.interestCount }
    }

    var interests: [Interest] {
        [interest] + (membership?.interests(isNarrowed: true) ?? []) + below.flatMap(\.interests)
    }

    /// The condition that a row belongs to a content; nil if it would have too many values for a statement.
    private var shown: RowPredicate? {
        guard numbers.count <= Self.longestList else { return nil }
        return .among(column: relation.otherColumn, values)
    }
    private static var longestList: Int { 1_000 }

    /// The values that there is a content for.
    private var values: [StorageValue] { contents.slots.compactMap { $0?.value } }

    let interestCount: Int
    /// How many of the interests are those of the related rows and their conditions.
    private let ownCount: Int

    func takeValues(all: Bool) -> [HeldValues] {
        var own = HeldValues(interest: 0)
        if all {
            own.added = values
        } else {
            for (value, isAdded) in changedValues.values {
                if isAdded { own.added.append(value) } else { own.removed.append(value) }
            }
        }
        let hasOwn = !changedValues.isEmpty || all
        changedValues = [:]
        return (hasOwn ? [own] : []) + below.takeValues(all: all).map { $0.behind(ownCount) }
    }

    /// Notes that a value's content was added or removed; an addition and a removal cancel out.
    private func note(_ key: [UInt8], _ value: StorageValue, isAdded: Bool) {
        changedValues[key] = changedValues[key] == nil ? (value, isAdded) : nil
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

    func retain(_ value: StorageValue, for owner: Int32, in snapshot: Snapshot) throws -> Int32? {
        guard let layout, let reader else { throw StaleNode() }
        guard let key = reader.key(of: value) else { return nil }
        if let number = numbers[key] {
            contents[number]?.owners.add(owner)
            return number
        }
        let content = try make(value, layout)
        let number = add(Keyed(content: content, key: key, value: value, owners: ContentOwners(owner)))
        try content.reload(snapshot)
        contentRowCount += content.rowCount
        return number
    }

    private func add(_ keyed: Keyed) -> Int32 {
        let number = contents.insert(keyed)
        if contents.slots.count > isChanged.count { isChanged.append(false) }
        keyed.content.number = number
        numbers[keyed.key] = number
        note(keyed.key, keyed.value, isAdded: true)
        return number
    }

    func release(_ number: Int32, by owner: Int32) {
        guard contents[number]?.owners.remove(owner) == true, let keyed = contents[number] else { return }
        note(keyed.key, keyed.value, isAdded: false)
        contentRowCount -= keyed.content.rowCount
        contents.remove(number, leaving: nil)
        numbers[keyed.key] = nil
        keyed.content.release()
    }

    func removeAll() {
        for keyed in contents.slots.lazy.compactMap(\.self) { note(keyed.key, keyed.value, isAdded: false) }
        (contents, numbers, contentRowCount) = (SlotArray(), [:], 0)
        (touched, changed, isChanged) = ([], [], [])
        membership?.removeAll()
        for level in below { level.removeAll() }
    }

    func fill(_ owner: inout Owner, _ value: StorageValue) {
        put(reader?.key(of: value).flatMap { numbers[$0] }.flatMap { contents[$0]?.content }, &owner)
    }

    var rowCount: Int { contentRowCount + below.rowCount }

    // MARK: Changes

    func apply(_ change: ChangedRow, by interest: Int, in snapshot: Snapshot) throws {
        guard interest < ownCount else { return try below.apply(change, by: interest - ownCount, in: snapshot) }
        guard let membership else { return try apply(change, in: snapshot) }
        if interest == 0 { membership.apply(change) } else { try membership.apply(change, by: interest - 1) }
    }

    func applyConditions(_ snapshot: Snapshot) throws {
        for change in try membership?.takeChanges(snapshot, among: { shown }) ?? [] { try apply(change, in: snapshot) }
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
        guard let key, let number = numbers[key], let content = contents[number]?.content else { return }
        touched.insert(number)
        try content.apply(change, in: snapshot)
    }

    func finishStep(_ snapshot: Snapshot) throws {
        for number in changed { isChanged[Int(number)] = false }
        changed = []
        for number in touched { if try finishContent(number, snapshot) { noteChange(number) } }
        touched = []
        for level in below {
            try level.finishStep(snapshot)
            for number in level.changedOwners { noteChange(number) }
        }
    }

    /// - Returns: Whether the content has changed; false if it no longer exists.
    private func finishContent(_ number: Int32, _ snapshot: Snapshot) throws -> Bool {
        guard let content = contents[number]?.content else { return false }
        contentRowCount -= content.rowCount
        defer { contentRowCount += content.rowCount }
        return try content.finishStep(snapshot)
    }

    private func noteChange(_ number: Int32) {
        changed.insert(number)
        isChanged[Int(number)] = true
    }

    var hasChanges: Bool { !changed.isEmpty }

    var changedOwners: Set<Int32> {
        changed.reduce(into: []) { owners, number in contents[number]?.owners.insert(into: &owners) }
    }
}
