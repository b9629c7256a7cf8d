internal import StorageCore

/// A contiguous run of a list's rows, in the list's order, each with its sort key (``RowSorting``).
///
/// The keys are apart from the rows: a search compares bytes only, and doesn't copy rows, whose type isn't known where
/// this is compiled.
struct ListRun<Item> {
    private var sorts: [[UInt8]] = []
    private(set) var items: [Item] = []

    var count: Int { items.count }
    var isEmpty: Bool { items.isEmpty }
    var firstSort: [UInt8]? { sorts.first }
    var lastSort: [UInt8]? { sorts.last }

    subscript(_ index: Int) -> Item {
        get { items[index] }
        set { items[index] = newValue }
    }

    /// The index of a sort key, or where it would be inserted.
    func search(_ sort: [UInt8]) -> (index: Int, isFound: Bool) {
        let index = sorts.partitioningIndex { !RowSorting.isBefore($0, sort) }
        return (index, index < sorts.count && sorts[index] == sort)
    }

    mutating func append(_ item: Item, sort: [UInt8]) {
        sorts.append(sort)
        items.append(item)
    }

    mutating func append(contentsOf other: ListRun) {
        sorts += other.sorts
        items += other.items
    }

    mutating func insert(_ item: Item, sort: [UInt8], at index: Int) {
        sorts.insert(sort, at: index)
        items.insert(item, at: index)
    }

    /// Inserts rows that were read backwards before the first one.
    mutating func prepend(reversed other: ListRun) {
        sorts.insert(contentsOf: other.sorts.reversed(), at: 0)
        items.insert(contentsOf: other.items.reversed(), at: 0)
    }

    mutating func remove(at index: Int) {
        sorts.remove(at: index)
        items.remove(at: index)
    }

    mutating func removeFirst(_ count: Int) {
        sorts.removeFirst(count)
        items.removeFirst(count)
    }

    mutating func removeLast(_ count: Int) {
        sorts.removeLast(count)
        items.removeLast(count)
    }
}
