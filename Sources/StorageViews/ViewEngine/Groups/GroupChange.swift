/// One step from an old grouped list to a new one.
///
/// ```swift
/// for try await difference in storage.query(Order.self).liveGroups(by: \.status).differences {
///     for change in difference.changes {
///         if case .insert(let order, let path) = change { print(order.id, path.section, path.row) }
///     }
/// }
/// ```
///
/// Its indexes refer to the list after the steps before it, so apply the steps of a difference in order.
public enum GroupChange<Key: Hashable & Sendable, Item: Sendable>: Sendable {
    /// Inserts a group.
    case insertSection(GroupSection<Key, Item>, at: Int)
    /// Removes a group.
    case removeSection(at: Int)
    /// Removes the group at `from` and inserts it at `to`, with its rows.
    case moveSection(from: Int, to: Int)
    /// Changes the number of rows in the group; visible rows are inserted and removed by separate steps.
    case count(Int, at: Int)
    /// Inserts a row.
    case insert(Item, at: GroupPath)
    /// Removes a row.
    case remove(at: GroupPath)
    /// Replaces a row by its new version.
    case update(Item, at: GroupPath)
    /// Removes the row at `from` and inserts its new version at `to`, in the same group or in another one.
    case move(Item, from: GroupPath, to: GroupPath)
}

extension GroupChange {
    /// Applies the step to the numbers of visible rows in groups.
    ///
    /// - Returns: False if an index is out of bounds.
    func isMade(on counts: inout [Int]) -> Bool {
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

    /// Decodes a step.
    ///
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
