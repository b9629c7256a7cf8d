/// Numbers the columns of each entity in the order in which the shapes of a run name them, for encoder and decoder alike.
struct ColumnPlaces {
    private var places: [UInt32: [UInt32: Int]] = [:]

    mutating func reset() { places.removeAll(keepingCapacity: true) }

    mutating func place(of column: UInt32, in entity: UInt32) -> Int {
        if let place = places[entity]?[column] { return place }
        let place = places[entity]?.count ?? 0
        places[entity, default: [:]][column] = place
        return place
    }

    func count(of entity: UInt32) -> Int { places[entity]?.count ?? 0 }
}
