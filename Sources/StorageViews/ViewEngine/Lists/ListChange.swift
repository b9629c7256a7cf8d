/// One step from an old list to a new one.
///
/// ```swift
/// for try await difference in storage.query(Task.self).orderBy(\.due).live().differences {
///     for change in difference.changes {
///         switch change {
///         case .insert(let task, let index): print("insert", task.title, index)
///         case .remove(let index): print("remove", index)
///         case .update(let task, let index): print("update", task.title, index)
///         case .move(let task, let from, let to): print("move", task.title, from, to)
///         }
///     }
/// }
/// ```
///
/// Its indexes refer to the list after the steps before it, so apply the steps of a difference in order.
public enum ListChange<Item: Sendable>: Sendable {
    /// Inserts a row.
    case insert(Item, at: Int)
    /// Removes a row.
    case remove(at: Int)
    /// Replaces a row by its new version.
    case update(Item, at: Int)
    /// Removes the row at `from` and inserts its new version at `to`.
    case move(Item, from: Int, to: Int)
}

extension ListChange {
    /// Applies the step to a number of rows.
    ///
    /// - Returns: False if an index is out of bounds.
    fileprivate func isMade(onCount count: inout Int) -> Bool {
        switch self {
        case .insert(_, let index):
            guard index >= 0, index <= count else { return false }
            count += 1
        case .remove(let index):
            guard index >= 0, index < count else { return false }
            count -= 1
        case .update(_, let index): return index >= 0 && index < count
        case .move(_, let from, let to): return from >= 0 && from < count && to >= 0 && to < count
        }
        return true
    }
}

extension ListChange: Equatable where Item: Equatable {}
extension ListChange: Hashable where Item: Hashable {}

/// ```json
/// {"insert": ITEM, "at": 3}   {"remove": 4}   {"update": ITEM, "at": 0}   {"move": ITEM, "from": 5, "to": 2}
/// ```
extension ListChange: Codable where Item: Codable {
    private enum CodingKeys: CodingKey { case insert, remove, update, move, at, from, to }

    /// Decodes a step.
    ///
    /// - Throws: `DecodingError` for a step of another shape.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func item(_ key: CodingKeys) throws -> Item { try values.decode(Item.self, forKey: key) }
        func index(_ key: CodingKeys) throws -> Int { try values.decode(Int.self, forKey: key) }
        if values.contains(.insert) {
            self = try .insert(item(.insert), at: index(.at))
        } else if values.contains(.update) {
            self = try .update(item(.update), at: index(.at))
        } else if values.contains(.move) {
            self = try .move(item(.move), from: index(.from), to: index(.to))
        } else {
            self = try .remove(at: index(.remove))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .insert(let item, let index):
            try values.encode(item, forKey: .insert)
            try values.encode(index, forKey: .at)
        case .remove(let index): try values.encode(index, forKey: .remove)
        case .update(let item, let index):
            try values.encode(item, forKey: .update)
            try values.encode(index, forKey: .at)
        case .move(let item, let from, let to):
            try values.encode(item, forKey: .move)
            try values.encode(from, forKey: .from)
            try values.encode(to, forKey: .to)
        }
    }
}

/// The difference from a list to the list at a later position.
///
/// ```swift
/// for await difference in subscription.differences {
///     difference.apply(to: &rows)
/// }
/// ```
public struct ListDifference<Item: Sendable>: Sendable {
    /// The position that the list reflects afterwards.
    public let position: Int64
    /// The whole list, if sent instead of single steps: at the beginning, and if there would be too many steps.
    public let whole: [Item]?
    /// The steps, in order; if there is a ``whole`` list, they continue from it.
    public let changes: [ListChange<Item>]

    package init(position: Int64, whole: [Item]?, changes: [ListChange<Item>]) {
        self.position = position
        self.whole = whole
        self.changes = changes
    }

    /// Whether its steps can be applied to a list. Check it if the difference comes from elsewhere, such as a network.
    ///
    /// It costs as much as the number of changes.
    public func fits(_ items: [Item]) -> Bool {
        var count = whole?.count ?? items.count
        return changes.allSatisfy { $0.isMade(onCount: &count) }
    }

    /// Turns the old list into the new one. Steps that don't fit the list are a programming error and trap.
    ///
    /// It costs as much as the changes and as moving the elements after them.
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

extension ListDifference: Equatable where Item: Equatable {}

/// ```json
/// {"position": 1041, "whole": [ITEM, …], "changes": [STEP, …]}
/// ```
///
/// There is no `whole` if there are only steps.
extension ListDifference: Codable where Item: Codable {}
