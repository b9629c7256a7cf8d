/// The rows before a sealed segment that its bytes depend on, besides its events.
///
/// Segments of ``Limits/baseGroup`` windows may be compressed against one another: that of window *i* of its group against that
/// of window *i* without its lowest bit, as in a binary indexed tree (Fenwick, 1994). That keeps lasting content close to each
/// segment, and at most three others have to be read before it.
struct SealingContext {
    /// The digests up to the segment.
    var chain: DigestChain
    /// The segment that this one is compressed against, if any.
    var base: SegmentBase?
    /// Whether the base is used only if it makes the segment enough smaller: see ``Limits/baseGain``.
    var mustGain = false
}
