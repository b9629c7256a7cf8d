/// The difference from a grouped list to the list at a later position.
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
    /// All groups, if sent instead of single steps: at the beginning, and if there would be too many steps.
    public let whole: [GroupSection<Key, Item>]?
    /// The steps, in order; if there is a ``whole`` list, they continue from it.
    public let changes: [GroupChange<Key, Item>]

    /// Whether its steps can be applied to a list. Check it if the difference comes from elsewhere, such as a network.
    ///
    /// It costs as much as the number of groups and changes.
    public func fits(_ sections: [GroupSection<Key, Item>]) -> Bool {
        var counts = (whole ?? sections).map(\.items.count)
        return changes.allSatisfy { $0.isMade(on: &counts) }
    }

    /// Turns the old list into the new one. Steps that don't fit the list are a programming error and trap.
    ///
    /// It costs as much as the changes and as moving the elements after them.
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
/// There is no `whole` if there are only steps.
extension GroupDifference: Codable where Key: Codable, Item: Codable {}
