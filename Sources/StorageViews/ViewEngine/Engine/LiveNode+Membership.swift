internal import StorageCore
internal import StorageRouting

// A node together with the conditions on related rows that its rows must meet. Changes pass these conditions before the
// node applies them.

extension LiveNode {
    /// The changes that affect it: those of its entity, then those of rows that conditions refer to, then those of rows
    /// that it includes.
    package var interests: [Interest] {
        var interests = ownInterests
        if let membership { interests.insert(contentsOf: membership.interests(), at: 1) }
        return interests
    }

    /// The values by which changes find ``interests``; see ``takeOwnValues(all:)``.
    func takeValues(all: Bool) -> [HeldValues] {
        let count = membership?.interestCount ?? 0
        return takeOwnValues(all: all).map { $0.interest == 0 ? $0 : $0.behind(count) }
    }

    /// Sets the layouts of the rows of ``interests``.
    ///
    /// - Parameter layouts: Also those of further interests whose changes the node doesn't receive.
    func bind(toAll layouts: [RowLayout]) throws {
        let layouts = Array(layouts.prefix(interests.count))
        guard let membership else { return try bind(to: layouts) }
        let end = 1 + membership.interestCount
        try membership.bind(to: layouts[0], related: layouts[1..<end])
        try bind(to: [layouts[0]] + layouts[end...])
    }

    /// Reads everything, and forgets changes that wait for the end of the step.
    func readAgain(_ snapshot: Snapshot) throws {
        membership?.removeAll()
        try reload(snapshot)
    }

    /// Receives a change. With conditions on related rows it is applied when the step is settled.
    ///
    /// - Throws: ``StaleNode`` if the change can't be applied.
    func take(_ change: ChangedRow, in snapshot: Snapshot) throws {
        guard change.effect != .uncertain else { throw StaleNode() }
        guard let membership else { return try apply(change, in: snapshot) }
        guard change.interest > 0 else { return membership.apply(change) }
        guard change.interest > membership.interestCount else {
            return try membership.apply(change, by: change.interest - 1)
        }
        var own = change
        own.interest -= membership.interestCount
        try apply(own, in: snapshot)
    }

    /// Applies the changes of the step, and reads the rows that are still missing.
    func settle(_ snapshot: Snapshot) throws {
        for change in try membership?.takeChanges(snapshot) ?? [] { try apply(change, in: snapshot) }
        try finishStep(snapshot)
    }
}
