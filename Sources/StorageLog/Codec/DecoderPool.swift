internal import Synchronization

/// Decoders that wait for another reader. Most readers live for one look at the log, which would take a tenth longer if each had
/// to make a decoder of its own and get memory for what it decodes.
///
/// Isolation: `Sendable`; those that wait are behind a mutex, one that was taken belongs to who took it.
final class DecoderPool: Sendable {
    static let shared = DecoderPool()

    /// Sound as `@unchecked Sendable`: it has one owner at a time.
    private struct PooledDecoder: @unchecked Sendable { let decoder: SegmentDecoder }

    /// As many as readers look at the log at the same time, most often.
    private static let limit = 2
    /// What a decoder may keep for the next reader: the memory of a usual row of the log or two.
    private static let memory = 2 << 20

    private let decoders = Mutex<[PooledDecoder]>([])

    func take() -> SegmentDecoder { decoders.withLock { $0.popLast() }?.decoder ?? SegmentDecoder() }

    func give(_ decoder: SegmentDecoder) {
        decoder.pool.shrink(to: Self.memory)
        let pooled = PooledDecoder(decoder: decoder)
        decoders.withLock { if $0.count < Self.limit { $0.append(pooled) } }
    }
}
