package import StorageCore

/// One group of a ``GroupedQuerySubscription``.
public struct GroupSection<Key: Hashable & Sendable, Item: Sendable>: Sendable, Identifiable {
    /// The key of the group.
    public let key: Key
    /// The rows that are shown, in the query's order.
    public internal(set) var items: [Item]
    /// How many rows it has, also those that aren't shown.
    public internal(set) var count: Int

    /// The key of the group.
    public var id: Key { key }
}

extension GroupSection: Equatable where Item: Equatable {}
extension GroupSection: Hashable where Item: Hashable {}
/// ```json
/// {"key": KEY, "items": [ITEM, …], "count": 12}
/// ```
extension GroupSection: Codable where Key: Codable, Item: Codable {}

/// A row's index in a grouped list.
public struct GroupPath: Sendable, Hashable, Codable {
    /// The group's index.
    public let section: Int
    /// The row's index in its group.
    public let row: Int

    /// Creates an index path.
    public init(section: Int, row: Int) {
        self.section = section
        self.row = row
    }
}

/// One step from an old grouped list to a new one. Indexes are those at the moment of the step: apply the
/// steps of a difference one after another.
public enum GroupChange<Key: Hashable & Sendable, Item: Sendable>: Sendable {
    /// Inserts a group.
    case insertSection(GroupSection<Key, Item>, at: Int)
    /// Removes a group.
    case removeSection(at: Int)
    /// The group is taken out at `from` and put in at `to`, with its rows.
    case moveSection(from: Int, to: Int)
    /// The group has another number of rows; visible rows are inserted and removed by steps of their own.
    case count(Int, at: Int)
    /// Inserts a row.
    case insert(Item, at: GroupPath)
    /// Removes a row.
    case remove(at: GroupPath)
    /// Another state of the same row.
    case update(Item, at: GroupPath)
    /// The row is taken out at `from` and put in at `to`, in its new state: in its group, or in another one.
    case move(Item, from: GroupPath, to: GroupPath)
}

extension GroupChange {
    /// Makes the step on how many rows groups show.
    ///
    /// - Returns: False where there is no such place.
    fileprivate func isMade(on counts: inout [Int]) -> Bool {
        switch self {
        case .insertSection(let section, let index):
            guard index >= 0, index <= counts.count else { return false }
            counts.insert(section.items.count, at: index)
        case .removeSection(let index):
            guard counts.indices.contains(index) else { return false }
            counts.remove(at: index)
        case .moveSection(let from, let to):
            guard counts.indices.contains(from), counts.indices.contains(to) else { return false }
            counts.insert(counts.remove(at: from), at: to)
        case .count(_, let index): return counts.indices.contains(index)
        case .insert(_, let path): return counts.insertRow(at: path)
        case .remove(let path): return counts.removeRow(at: path)
        case .update(_, let path):
            return counts.indices.contains(path.section) && path.row >= 0 && path.row < counts[path.section]
        case .move(_, let from, let to): return counts.removeRow(at: from) && counts.insertRow(at: to)
        }
        return true
    }
}

extension [Int] {
    fileprivate mutating func insertRow(at path: GroupPath) -> Bool {
        guard indices.contains(path.section), path.row >= 0, path.row <= self[path.section] else { return false }
        self[path.section] += 1
        return true
    }

    fileprivate mutating func removeRow(at path: GroupPath) -> Bool {
        guard indices.contains(path.section), path.row >= 0, path.row < self[path.section] else { return false }
        self[path.section] -= 1
        return true
    }
}

extension GroupChange: Equatable where Item: Equatable {}
extension GroupChange: Hashable where Item: Hashable {}

/// ```json
/// {"insertSection": SECTION, "at": 1}   {"removeSection": 1}   {"moveSection": 1, "to": 0}   {"count": 12, "at": 1}
/// {"insert": ITEM, "path": PATH}   {"remove": PATH}   {"update": ITEM, "path": PATH}
/// {"move": ITEM, "path": PATH, "toPath": PATH}
/// ```
///
/// A path is `{"section": 0, "row": 3}`.
extension GroupChange: Codable where Key: Codable, Item: Codable {
    private enum CodingKeys: CodingKey {
        case insertSection, removeSection, moveSection, count, insert, remove, update, move, at, to, path, toPath
    }

    /// - Throws: `DecodingError` for a step of another shape.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ key: CodingKeys) throws -> Value { try values.decode(Value.self, forKey: key) }
        if values.contains(.insertSection) {
            self = try .insertSection(value(.insertSection), at: value(.at))
        } else if values.contains(.removeSection) {
            self = try .removeSection(at: value(.removeSection))
        } else if values.contains(.moveSection) {
            self = try .moveSection(from: value(.moveSection), to: value(.to))
        } else if values.contains(.count) {
            self = try .count(value(.count), at: value(.at))
        } else if values.contains(.insert) {
            self = try .insert(value(.insert), at: value(.path))
        } else if values.contains(.update) {
            self = try .update(value(.update), at: value(.path))
        } else if values.contains(.move) {
            self = try .move(value(.move), from: value(.path), to: value(.toPath))
        } else {
            self = try .remove(at: value(.remove))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .insertSection(let section, let index):
            try values.encode(section, forKey: .insertSection)
            try values.encode(index, forKey: .at)
        case .removeSection(let index): try values.encode(index, forKey: .removeSection)
        case .moveSection(let from, let to):
            try values.encode(from, forKey: .moveSection)
            try values.encode(to, forKey: .to)
        case .count(let count, let index):
            try values.encode(count, forKey: .count)
            try values.encode(index, forKey: .at)
        case .insert(let item, let path):
            try values.encode(item, forKey: .insert)
            try values.encode(path, forKey: .path)
        case .remove(let path): try values.encode(path, forKey: .remove)
        case .update(let item, let path):
            try values.encode(item, forKey: .update)
            try values.encode(path, forKey: .path)
        case .move(let item, let from, let to):
            try values.encode(item, forKey: .move)
            try values.encode(from, forKey: .path)
            try values.encode(to, forKey: .toPath)
        }
    }
}

/// What leads from a grouped list to the list at a later position.
///
/// ```swift
/// for await difference in subscription.differences {
///     difference.apply(to: &sections)
/// }
/// ```
public struct GroupDifference<Key: Hashable & Sendable, Item: Sendable>: Sendable {
    /// The position that the list reflects afterwards.
    public let position: Int64
    /// How many rows there are in all groups afterwards.
    public let totalCount: Int
    /// All groups, if sent instead of single steps: at the beginning, and where there would be too
    /// many.
    public let whole: [GroupSection<Key, Item>]?
    /// The steps, in order; from the whole list on where there is one.
    public let changes: [GroupChange<Key, Item>]

    /// Whether its steps can be made on a list: to be asked where the difference comes from elsewhere, such as a network.
    /// Costs as much as the number of groups and changes.
    public func fits(_ sections: [GroupSection<Key, Item>]) -> Bool {
        var counts = (whole ?? sections).map(\.items.count)
        return changes.allSatisfy { $0.isMade(on: &counts) }
    }

    /// Makes the new list of the old one, and of no other: steps that don't fit are a programming error and trap. Costs as much as the changes, and moving what lies behind them.
    public func apply(to sections: inout [GroupSection<Key, Item>]) {
        if let whole { sections = whole }
        for change in changes {
            switch change {
            case .insertSection(let section, let index): sections.insert(section, at: index)
            case .removeSection(let index): sections.remove(at: index)
            case .moveSection(let from, let to):
                let section = sections.remove(at: from)
                sections.insert(section, at: to)
            case .count(let count, let index): sections[index].count = count
            case .insert(let item, let path): sections[path.section].items.insert(item, at: path.row)
            case .remove(let path): sections[path.section].items.remove(at: path.row)
            case .update(let item, let path): sections[path.section].items[path.row] = item
            case .move(let item, let from, let to):
                sections[from.section].items.remove(at: from.row)
                sections[to.section].items.insert(item, at: to.row)
            }
        }
    }
}

/// ```json
/// {"position": 1041, "totalCount": 40, "whole": [SECTION, …], "changes": [STEP, …]}
/// ```
///
/// There is no `whole` where there are only steps.
extension GroupDifference: Codable where Key: Codable, Item: Codable {}

/// What is new of a grouped list.
package struct GroupUpdate<Key: Hashable & Sendable, Item: Sendable>: SteppedUpdate {
    package var position: Int64 = 0
    package var whole: [GroupSection<Key, Item>]?
    package var changes: [GroupChange<Key, Item>] = []
    /// How many rows there are in all groups.
    package var total = 0
    /// Why it couldn't be kept up to date; the rows are those from before.
    package var error: StorageError?

    package init() {}

    package init(_ whole: [GroupSection<Key, Item>], at position: Int64) {
        (self.whole, self.position) = (whole, position)
        total = Self.rowCount(of: whole)
    }

    package func fits(_ sections: [GroupSection<Key, Item>]) -> Bool { difference.fits(sections) }

    package func apply(to sections: inout [GroupSection<Key, Item>]) { difference.apply(to: &sections) }
    package static func rowCount(of sections: [GroupSection<Key, Item>]) -> Int { sections.reduce(0) { $0 + $1.count } }

    package var difference: GroupDifference<Key, Item> {
        GroupDifference(position: position, totalCount: total, whole: whole, changes: changes)
    }
}
