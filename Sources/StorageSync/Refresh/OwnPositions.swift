internal import StorageCore

/// The positions of the commits that a refresh has made, in order.
struct OwnPositions: Sendable {
    private var ranges: [Range<Int64>] = []
    private(set) var count: Int64 = 0

    /// - Parameter range: Must follow all that were added before; may be empty.
    mutating func append(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        count += range.upperBound - range.lowerBound
        if let last = ranges.last, last.upperBound == range.lowerBound {
            ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
        } else {
            ranges.append(range)
        }
    }

    /// - Complexity: O(log *n*) in the number of contiguous ranges, which others' commits separate.
    func contains(_ position: Int64) -> Bool {
        let index = ranges.partitioningIndex { $0.upperBound > position }
        return index < ranges.count && ranges[index].contains(position)
    }
}
