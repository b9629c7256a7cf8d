/// What the bytes of a sealed row depend on besides its events: the rows before it.
///
/// Rows of ``Limits/baseGroup`` windows may be compressed against one another: that of window *i* of its group against that of
/// window *i* without its lowest bit, as in a binary indexed tree (Fenwick, 1994). Content that lasts is close to each row that
/// way, and three rows at the most have to be read before it.
struct SealingContext {
    /// The digests up to the row.
    var chain: DigestChain
    /// What the row is compressed against, if anything.
    var base: SegmentBase?
    /// Whether the base has to prove its worth first.
    var mustGain = false
}
