package import StorageCore

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
