/// The part of a segment before its values: its commits, the shapes of its events, and the previous event of each event's row.
///
/// It is read without the values that follow, so the checksum of the whole can't be verified. Use it only to find events; the
/// content that users see comes from an ``EventBatch``.
package struct SegmentOutline {
    /// The common properties of events of one kind.
    package struct Shape: Sendable {
        package let entity: UInt32
        package let operation: StorageEvent.Operation
        /// The included columns, by their ids.
        package let columns: [UInt32]
    }

    package let header: SegmentHeader
    private let slices: [CommitSlice]
    package let shapes: [Shape]
    private let shapeOfEvent: [Int]
    private let previous: [Int64]

    init(header: SegmentHeader, slices: [CommitSlice], shapes: [Shape], shapeOfEvent: [Int], previous: [Int64]) {
        self.header = header
        self.slices = slices
        self.shapes = shapes
        self.shapeOfEvent = shapeOfEvent
        self.previous = previous
    }

    package func shape(ofEvent index: Int) -> Shape { shapes[shapeOfEvent[index]] }

    /// The index in ``shapes`` of an event's shape.
    package func shapeIndex(ofEvent index: Int) -> Int { shapeOfEvent[index] }

    /// The position of the previous event of the same row; 0 if there is none.
    package func previous(ofEvent index: Int) -> Int64 { previous[index] }

    /// For each key that the segment holds of an entity's rows, in order, whether an event at `positions` belongs to it.
    ///
    /// An event that points back to another of the same segment has no key of its own.
    func keys(of entity: UInt32, at positions: ClosedRange<Int64>) -> [Bool] {
        var wanted: [Bool] = []
        var slots = [Int?](repeating: nil, count: shapeOfEvent.count)
        for index in shapeOfEvent.indices where shape(ofEvent: index).entity == entity {
            let earlier = previous[index] - header.first
            if earlier >= 0 {
                slots[index] = slots[Int(earlier)]
            } else {
                slots[index] = wanted.count
                wanted.append(false)
            }
            if let slot = slots[index], positions.contains(header.first + Int64(index)) { wanted[slot] = true }
        }
        return wanted
    }

    package func commit(ofEvent index: Int) -> CommitInfo { slices.commit(ofEvent: index) }
}
