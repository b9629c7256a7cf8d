/// The lists whose rows share a content, by their numbers, and how many rows of each: most contents have one owner.
struct ContentOwners {
    private var first: Int32
    private var firstCount: Int32 = 1
    private var others: [Int32: Int32] = [:]

    init(_ owner: Int32) { first = owner }

    mutating func add(_ owner: Int32) {
        if owner == first { firstCount += 1 } else { others[owner, default: 0] += 1 }
    }

    /// - Returns: Whether nothing is left.
    mutating func remove(_ owner: Int32) -> Bool {
        if owner == first {
            firstCount -= 1
        } else if let count = others[owner] {
            others[owner] = count > 1 ? count - 1 : nil
        }
        return firstCount == 0 && others.isEmpty
    }

    func insert(into owners: inout Set<Int32>) {
        if firstCount > 0 { owners.insert(first) }
        owners.formUnion(others.keys)
    }
}
