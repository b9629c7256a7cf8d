public import StorageCore

/// The changes of the rows that one owner in a list includes.
public struct IncludedDifference<Child: Sendable>: Sendable {
    /// The owner's index in the new list.
    public let owner: Int
    /// The difference from the owner's old rows to the new ones.
    public let difference: ListDifference<Child>
}

extension IncludedDifference: Equatable where Child: Equatable {}

extension ListDifference {
    /// The changes of the included rows of owners that are in both lists.
    ///
    /// They are the steps of a sectioned list, in which the owner's index is the section.
    ///
    /// ```swift
    /// for try await difference in directors.live().differences {
    ///     let films = difference.included(\.films, in: shown)
    ///     difference.apply(to: &shown)
    ///     for part in films { animate(part.difference.changes, inSection: part.owner) }
    /// }
    /// ```
    ///
    /// If an owner's rows have changed, the list's difference updates the owner with all of its rows; this method finds
    /// the single steps, by the rows' ids. For further levels, call it on the difference of an owner.
    ///
    /// - Parameters:
    ///   - children: The property that the query includes.
    ///   - old: The list that the difference is applied to.
    /// - Returns: In the order of the new list. There is no element for new owners, for owners whose rows are
    ///   unchanged, or if the whole list was sent.
    /// - Complexity: O(*n*) in the number of owners, and O(*m* log *m*) in the rows of updated owners.
    public func included<Child: StorageKitEntity>(
        _ children: KeyPath<Item, [Child]>, in old: [Item]
    ) -> [IncludedDifference<Child>] {
        guard whole == nil, !changes.isEmpty else { return [] }
        // The old index of each owner of the new list.
        var origins: [Int?] = Array(old.indices)
        var new = old
        var updated: Set<Int> = []
        for change in changes {
            switch change {
            case .insert(_, let index): origins.insert(nil, at: index)
            case .remove(let index): origins.remove(at: index)
            case .update(_, let index): origins[index].map { _ = updated.insert($0) }
            case .move(_, let from, let to):
                let origin = origins.remove(at: from)
                origins.insert(origin, at: to)
                origin.map { _ = updated.insert($0) }
            }
        }
        apply(to: &new)
        return origins.enumerated().compactMap { index, origin in
            guard let origin, updated.contains(origin) else { return nil }
            let difference = ListDifference<Child>(
                from: old[origin][keyPath: children], to: new[index][keyPath: children], by: \.id, at: position)
            guard difference.whole != nil || !difference.changes.isEmpty else { return nil }
            return IncludedDifference(owner: index, difference: difference)
        }
    }
}
