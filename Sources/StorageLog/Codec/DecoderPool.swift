internal import Synchronization

/// Idle decoders for the next reader. Most readers read the log once, which would take a tenth longer if each had to create a
/// decoder and allocate memory for what it decodes.
///
/// Isolation: `Sendable`; idle decoders are behind a mutex, and one that was taken belongs to its taker.
final class DecoderPool: Sendable {
    static let shared = DecoderPool()

    /// Sound as `@unchecked Sendable`: it has one owner at a time.
    private struct PooledDecoder: @unchecked Sendable { let decoder: SegmentDecoder }

    /// The number of readers that usually read at the same time, at most.
    private static let limit = 2
    /// The memory that an idle decoder may keep: that of one or two usual segments.
    private static let memory = 2 << 20

    private let decoders = Mutex<[PooledDecoder]>([])

    func take() -> SegmentDecoder { decoders.withLock { $0.popLast() }?.decoder ?? SegmentDecoder() }

    func give(_ decoder: SegmentDecoder) {
        decoder.pool.shrink(to: Self.memory)
        let pooled = PooledDecoder(decoder: decoder)
        decoders.withLock { if $0.count < Self.limit { $0.append(pooled) } }
    }
}
