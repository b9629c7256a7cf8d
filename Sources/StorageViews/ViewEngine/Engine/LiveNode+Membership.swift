internal import StorageCore
internal import StorageRouting

// A node as the engine follows it: with the conditions on related rows that its rows meet. Changes pass them before the node
// applies any.

extension LiveNode {
    /// Which changes matter to it: those of its entity, then those of rows that conditions look at, then those of rows that it
    /// shows with its own.
    package var interests: [Interest] {
        var interests = ownInterests
        if let membership { interests.insert(contentsOf: membership.interests(), at: 1) }
        return interests
    }

    /// The values by which changes find ``interests``, as ``takeOwnValues(all:)`` says.
    func takeValues(all: Bool) -> [HeldValues] {
        let count = membership?.interestCount ?? 0
        return takeOwnValues(all: all).map { $0.interest == 0 ? $0 : $0.behind(count) }
    }

    /// Learns how the rows of ``interests`` are laid out.
    ///
    /// - Parameter layouts: Also those behind them of rows of which the node isn't given the changes.
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

    /// Receives a change, which is applied when the step is settled if there are conditions on related rows.
    ///
    /// - Throws: ``StaleNode`` where that isn't possible.
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

    /// Applies what the step has changed, and fetches what that has left open.
    func settle(_ snapshot: Snapshot) throws {
        for change in try membership?.takeChanges(snapshot) ?? [] { try apply(change, in: snapshot) }
        try finishStep(snapshot)
    }
}
