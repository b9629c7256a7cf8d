/// The bytes of a segment and the values of its other columns.
struct EncodedSegment: Sendable {
    var header: SegmentHeader
    var body: [UInt8]
    /// The position of the segment that the body is compressed against; 0 if none.
    var base: Int64 = 0
    /// The digest of the log up to the segment; nil for one that isn't sealed.
    var digest: [UInt8]?
}
