// Readers that return with the value that they had. The log doesn't have the earlier results of SQL and of searches; these
// readers do.

extension LiveQuery {
    /// The difference from a list that the reader has to the current one, and then from each state to the next.
    ///
    /// Use it for a reader that was away, if `differences(since:)` would send the whole result: for SQL, for searches, and for
    /// aggregates of each group. It needs the list, and works for every query.
    ///
    /// ```swift
    /// for try await difference in storage.query(Note.self).liveSearch("swift").differences(from: found) {
    ///     difference.apply(to: &found)
    /// }
    /// ```
    ///
    /// If the list is still the current one, there is no first difference. It is the whole list if the steps would be more
    /// than the list has items and more than 256.
    ///
    /// Items are compared with `==`. Of entities, also of those that a search has found or that have aggregates, the texts of
    /// their columns are also compared by their bytes, so that another Unicode form of a text, such as é as two characters, is a
    /// difference. Of other items, and of what entities include, it is one only if their `==` finds it; Swift's texts are equal
    /// then.
    ///
    /// The first difference costs as much as the first value of ``snapshots``, and comparing both lists item by item.
    ///
    /// - Parameters:
    ///   - known: The list that the reader has. Items are identified by `id`; if several have the same, by their order too.
    ///   - onError: As for ``differences(onError:)``.
    public func differences<Item: Sendable & Equatable & Identifiable>(
        from known: [Item], onError: @escaping ErrorHandler = { _ in }
    ) -> LiveSequence<Difference> where Value == [Item], Difference == ListDifference<Item> {
        differences(onError: onError).convertingFirst { first in
            var current: [Item] = []
            first.apply(to: &current)
            let difference = ListDifference(from: known, to: current, by: \.id, at: first.position)
            return difference.whole == nil && difference.changes.isEmpty ? nil : difference
        }
    }

    /// The current groups, unless they are the ones that the reader has, and then the difference from each state to the next.
    ///
    /// - Parameters:
    ///   - known: The groups that the reader has.
    ///   - onError: As for ``differences(onError:)``.
    public func differences<Key: Hashable & Sendable, Item: Sendable & Equatable>(
        from known: [GroupSection<Key, Item>], onError: @escaping ErrorHandler = { _ in }
    ) -> LiveSequence<Difference>
    where Value == [GroupSection<Key, Item>], Difference == GroupDifference<Key, Item> {
        differences(onError: onError).convertingFirst { first in
            var current: [GroupSection<Key, Item>] = []
            first.apply(to: &current)
            let isKnown = current.elementsEqual(known) { current, known in
                current == known && zip(current.items, known.items).allSatisfy { $0.isSame(as: $1) }
            }
            return isKnown ? nil : first
        }
    }

    /// The difference from a value that the reader has to the current one, and then from each value to the next.
    ///
    /// If the value is still the current one, there is no first difference.
    ///
    /// - Parameters:
    ///   - known: The value that the reader has.
    ///   - onError: As for ``differences(onError:)``.
    public func differences(
        from known: Value, onError: @escaping ErrorHandler = { _ in }
    ) -> LiveSequence<Difference> where Value: Equatable, Difference == ValueDifference<Value> {
        differences(onError: onError).convertingFirst { first in
            first.new.isSame(as: known) ? nil : ValueDifference(at: first.position, from: known, to: first.new)
        }
    }
}
