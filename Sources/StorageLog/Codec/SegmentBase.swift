/// The body of a sealed row that later rows are compressed against: what they repeat of it costs them a few bytes.
struct SegmentBase: Sendable {
    let position: Int64
    /// Uncompressed; ``Limits/baseBytes`` at the most.
    let bytes: [UInt8]
}
