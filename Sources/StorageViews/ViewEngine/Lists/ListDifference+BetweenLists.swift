internal import StorageCore

extension ListDifference where Item: Equatable {
    /// Computes the difference between two lists whose items are identified by a key: the longest run of items that
    /// keep their order stays, others are removed and inserted; the whole list if that is shorter. Costs n log n.
    ///
    /// Source of the longest increasing subsequence: Fredman, "On computing the length of longest increasing
    /// subsequences", 1975.
    package init<Key: Hashable>(from old: [Item], to new: [Item], by key: (Item) -> Key, at position: Int64) {
        // Items with the same key are distinguished by their order.
        var places: [Key: [Int]] = [:]
        for index in old.indices.reversed() { places[key(old[index]), default: []].append(index) }
        let origins = new.map { places[key($0)]?.popLast() }
        let kept = Self.longestIncreasing(origins)
        let steps = old.count + new.count - 2 * kept.count
        guard steps <= max(256, new.count) else {
            self.init(position: position, whole: new, changes: [])
            return
        }
        var changes: [ListChange<Item>] = []
        let keptOrigins = Set(kept.compactMap { origins[$0] })
        for index in old.indices.reversed() where !keptOrigins.contains(index) { changes.append(.remove(at: index)) }
        let keptPlaces = Set(kept)
        for index in new.indices {
            guard keptPlaces.contains(index), let origin = origins[index] else {
                changes.append(.insert(new[index], at: index))
                continue
            }
            if !old[origin].isSame(as: new[index]) { changes.append(.update(new[index], at: index)) }
        }
        self.init(position: position, whole: nil, changes: changes)
    }

    /// The indices of the longest increasing subsequence; nil elements are skipped.
    private static func longestIncreasing(_ numbers: [Int?]) -> [Int] {
        // The index of the least number that ends a run of each length.
        var ends: [Int] = []
        var previous = [Int?](repeating: nil, count: numbers.count)
        for (index, number) in numbers.enumerated() {
            guard let number else { continue }
            let place = ends.partitioningIndex { (numbers[$0] ?? 0) >= number }
            previous[index] = place > 0 ? ends[place - 1] : nil
            if place == ends.count { ends.append(index) } else { ends[place] = index }
        }
        var run: [Int] = []
        var next = ends.last
        while let index = next {
            run.append(index)
            next = previous[index]
        }
        return run.reversed()
    }
}
