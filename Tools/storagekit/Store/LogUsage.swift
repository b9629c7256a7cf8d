import StorageKit

/// The storage that the log uses for some events. Segments are compressed as a whole, so neighbouring events count, too.
struct LogUsage {
    private(set) var count: Int64 = 0
    private(set) var sealed: Int64 = 0
    private(set) var bytes: Int64 = 0
    private(set) var rawBytes: Int64 = 0
    private(set) var positions: ClosedRange<Int64>?

    init() {}

    /// Measures the segments that contain some positions.
    init(_ positions: ClosedRange<Int64>, in store: HistoryReader) throws {
        var next = positions.upperBound
        while next >= positions.lowerBound, let row = try store.index.segment(atOrBefore: next) {
            add(row)
            next = row.positions.lowerBound - 1
        }
    }

    mutating func add(_ segment: LogIndex.Segment) {
        count += 1
        sealed += segment.isSealed ? 1 : 0
        bytes += segment.storedBytes
        rawBytes += segment.rawBytes
        positions = segment.positions.lowerBound...(positions?.upperBound ?? segment.positions.upperBound)
    }
}
