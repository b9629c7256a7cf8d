package import StorageCore

/// What is new of a list or of groups: everything, or steps that lead from what was there before.
package protocol SteppedUpdate: ComposableUpdate {
    /// The type of all rows or groups.
    associatedtype Whole: Collection & RangeReplaceableCollection & Sendable
    associatedtype Step: Sendable
    /// How it is reported to readers.
    associatedtype Difference: Sendable

    /// The position that it reflects.
    var position: Int64 { get set }
    /// Everything, if sent instead of steps.
    var whole: Whole? { get set }
    /// The steps, in order; if there is a ``whole``, they continue from it.
    var changes: [Step] { get set }
    /// Why it couldn't be kept up to date; all else is as before.
    var error: StorageError? { get set }
    var difference: Difference { get }

    /// An update that changes nothing.
    init()
    /// Everything that there is at a position.
    init(_ whole: Whole, at position: Int64)
    /// Whether its steps can be made on a value.
    func fits(_ value: Whole) -> Bool
    /// Makes the new value of the old one, which it fits.
    func apply(to value: inout Whole)
    /// How many rows there are in all.
    static func rowCount(of value: Whole) -> Int
}

extension SteppedUpdate {
    package var weight: Int { changes.count }

    package mutating func append(_ next: Self) {
        guard next.whole == nil else { return self = next }
        let (whole, nextChanges) = (whole, next.changes)
        var changes: [Step] = []
        // Appended in place: for a slow consumer, each step must not cost as much as all pending ones.
        swap(&changes, &self.changes)
        changes += nextChanges
        self = next
        (self.whole, self.changes) = (whole, changes)
    }

    /// The most steps that may be pending before everything is sent instead: as many as there are rows, but at least
    /// 256, which cost less than reading the rows.
    package static func stepLimit(rowCount: Int) -> Int { max(256, rowCount) }
}
