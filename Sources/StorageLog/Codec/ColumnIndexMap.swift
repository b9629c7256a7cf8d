/// Numbers the columns of each entity in the order in which the shapes of a run name them, for encoder and decoder alike.
struct ColumnIndexMap {
    private var indices: [UInt32: [UInt32: Int]] = [:]

    mutating func reset() { indices.removeAll(keepingCapacity: true) }

    mutating func index(of column: UInt32, in entity: UInt32) -> Int {
        if let index = indices[entity]?[column] { return index }
        let index = indices[entity]?.count ?? 0
        indices[entity, default: [:]][column] = index
        return index
    }

    func count(of entity: UInt32) -> Int { indices[entity]?.count ?? 0 }
}
