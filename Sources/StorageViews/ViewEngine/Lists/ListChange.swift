/// One step from an old list to a new one. Indexes are those at the moment of the step: apply the steps of a
/// difference one after another.
public enum ListChange<Item: Sendable>: Sendable {
    /// Inserts a row.
    case insert(Item, at: Int)
    /// Removes a row.
    case remove(at: Int)
    /// Another state of the same row.
    case update(Item, at: Int)
    /// The row is taken out at `from` and put in at `to`, in its new state.
    case move(Item, from: Int, to: Int)
}

extension ListChange: Equatable where Item: Equatable {}
extension ListChange: Hashable where Item: Hashable {}

/// What leads from a list to the list at a later position.
///
/// ```swift
/// for await difference in subscription.differences {
///     difference.apply(to: &rows)
/// }
/// ```
public struct ListDifference<Item: Sendable>: Sendable {
    /// The position that the list reflects afterwards.
    public let position: Int64
    /// The whole list, if sent instead of single steps: at the beginning, and where there would be too many.
    public let whole: [Item]?
    /// The steps, in order; from the whole list on where there is one.
    public let changes: [ListChange<Item>]

    package init(position: Int64, whole: [Item]?, changes: [ListChange<Item>]) {
        self.position = position
        self.whole = whole
        self.changes = changes
    }

    /// Makes the new list of the old one, and of no other: steps that don't fit are a programming error and trap. Costs as much as the changes, and moving what lies behind them.
    public func apply(to items: inout [Item]) {
        if let whole { items = whole }
        for change in changes {
            switch change {
            case .insert(let item, let index): items.insert(item, at: index)
            case .remove(let index): items.remove(at: index)
            case .update(let item, let index): items[index] = item
            case .move(let item, let from, let to):
                items.remove(at: from)
                items.insert(item, at: to)
            }
        }
    }
}
