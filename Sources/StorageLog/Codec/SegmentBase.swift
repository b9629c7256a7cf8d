/// The body of a sealed segment that later ones are compressed against: content that they repeat costs them a few bytes.
struct SegmentBase: Sendable {
    let position: Int64
    /// Uncompressed; at most ``Limits/baseBytes``.
    let bytes: [UInt8]
}
