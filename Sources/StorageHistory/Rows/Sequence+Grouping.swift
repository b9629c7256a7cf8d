extension Sequence {
    /// The elements grouped by a key, groups in the order of their first elements.
    package func grouped<Key: Hashable>(by key: (Element) throws -> Key) rethrows -> [(key: Key, elements: [Element])] {
        var indices: [Key: Int] = [:]
        var groups: [(key: Key, elements: [Element])] = []
        for element in self {
            let key = try key(element)
            if let index = indices[key] {
                groups[index].elements.append(element)
            } else {
                indices[key] = groups.count
                groups.append((key, [element]))
            }
        }
        return groups
    }
}
