internal import StorageCore
internal import StorageRouting

/// What a relation adds to the rows of a list, live.
///
/// Isolation: not `Sendable`; it belongs to a node.
protocol RelatedLevel: AnyObject {
    /// Which changes matter: those of its rows, then those of levels below.
    var interests: [Interest] { get }
    var interestCount: Int { get }
    /// Which of its interests are others than those that were taken last, by their numbers.
    func takeChangedInterests() -> [Int]
    func bind(to layouts: ArraySlice<RowLayout>) throws
    func removeAll()
    /// Takes in a change.
    ///
    /// - Parameter interest: By which of its interests it was found.
    func apply(_ change: ChangedRow, by interest: Int, in snapshot: Snapshot) throws
    /// Applies what conditions on related rows make of the changes of the step, here and below.
    func applyConditions(_ snapshot: Snapshot) throws
    /// Makes of the changes that were applied what is shown, here and below.
    func finishStep(_ snapshot: Snapshot) throws
    /// Whether the step has brought something.
    var hasChanges: Bool { get }
    /// How many rows it holds, here and below.
    var rowCount: Int { get }
}

/// A level whose rows are put into their owners.
protocol IncludedLevel<Owner>: RelatedLevel {
    associatedtype Owner: Sendable

    /// What the content for a value is known by; nil for NULL, which has none.
    func key(of value: StorageValue) -> [UInt8]?
    /// Keeps the content for a value, which another owner has now.
    func retain(_ value: StorageValue, as key: [UInt8], in snapshot: Snapshot) throws
    /// An owner no longer has a value.
    func release(_ key: [UInt8])
    /// Whether the step has brought something to the content for a value.
    func hasChanged(_ key: [UInt8]) -> Bool
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

    /// Which interests of all levels are others than those that were taken last.
    func takeChangedInterests() -> [Int] {
        var changed: [Int] = []
        var start = 0
        for level in self {
            changed += level.takeChangedInterests().map { start + $0 }
            start += level.interestCount
        }
        return changed
    }

    var rowCount: Int { reduce(0) { $0 + $1.rowCount } }
}
