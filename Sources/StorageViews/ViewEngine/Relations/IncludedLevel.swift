internal import StorageCore
internal import StorageRouting

/// What a relation adds to the rows of a list, live.
///
/// Isolation: not `Sendable`; it belongs to a node.
protocol RelatedLevel: AnyObject {
    /// Which changes matter: those of its rows, then those of levels below.
    var interests: [Interest] { get }
    var interestCount: Int { get }
    /// The values by which changes find its interests; see ``LiveNode/takeOwnValues(all:)``.
    func takeValues(all: Bool) -> [HeldValues]
    func bind(to layouts: ArraySlice<RowLayout>) throws
    func removeAll()
    /// Applies a change.
    ///
    /// - Parameter interest: The interest that it was found by.
    func apply(_ change: ChangedRow, by interest: Int, in snapshot: Snapshot) throws
    /// Applies what conditions on related rows make of the changes of the step, here and below.
    func applyConditions(_ snapshot: Snapshot) throws
    /// Updates what is shown from the applied changes, here and below.
    func finishStep(_ snapshot: Snapshot) throws
    /// Whether the step has changed anything.
    var hasChanges: Bool { get }
    /// The owners of the contents that the step has changed.
    var changedOwners: Set<Int32> { get }
    /// How many rows it holds, here and below.
    var rowCount: Int { get }
}

/// A level whose rows are put into their owners.
protocol IncludedLevel<Owner>: RelatedLevel {
    associatedtype Owner: Sendable

    /// Retains the content for a value, for one more row of an owner.
    ///
    /// - Parameter owner: The number of the list that shows the row, as in ``changedOwners``.
    /// - Returns: The content's number, until it is released as often as it was retained; nil for NULL, which has none.
    func retain(_ value: StorageValue, for owner: Int32, in snapshot: Snapshot) throws -> Int32?
    /// A row of an owner no longer has the value of a content.
    func release(_ number: Int32, by owner: Int32)
    /// Whether the step has changed a content, by its number.
    var isChanged: [Bool] { get }
    /// Puts the content for a value into its owner.
    func fill(_ owner: inout Owner, _ value: StorageValue)
}

// MARK: Several levels beside each other

extension [any RelatedLevel] {
    /// Gives each level the layouts of its interests.
    func bind(to layouts: ArraySlice<RowLayout>) throws {
        var rest = layouts
        for level in self {
            try level.bind(to: rest.prefix(level.interestCount))
            rest = rest.dropFirst(level.interestCount)
        }
    }

    /// Gives a change to the level that it was found by.
    ///
    /// - Parameter interest: The number among the interests of all levels.
    func apply(_ change: ChangedRow, by interest: Int, in snapshot: Snapshot) throws {
        var interest = interest
        for level in self {
            if interest < level.interestCount { return try level.apply(change, by: interest, in: snapshot) }
            interest -= level.interestCount
        }
    }

    /// The values by which changes find the interests of all levels.
    func takeValues(all: Bool) -> [HeldValues] {
        var values: [HeldValues] = []
        var start = 0
        for level in self {
            values += level.takeValues(all: all).map { $0.behind(start) }
            start += level.interestCount
        }
        return values
    }

    var rowCount: Int { reduce(0) { $0 + $1.rowCount } }
}
