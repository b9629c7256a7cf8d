internal import Dispatch

/// Decodes segments on another thread while the reader processes the ones before them.
///
/// Decoding takes about as long as what a long read does with the events, so the two side by side take half the time.
///
/// Isolation: not `Sendable`, it belongs to its reader's thread.
final class ReadAheadDecoder {
    /// Segments in progress at the same time: few at first, because a short read would discard them; then so many that neither
    /// side waits for each segment, because a thread that is woken for the fraction of a millisecond that a segment takes seldom
    /// gets a processor of its own.
    private static let fewRows = 2
    private static let manyRows = 8
    /// The maximum bytes of the bodies of all of them, unless two alone exceed it: fewer large segments are in progress.
    private static let bytes = 4 << 20

    private let queue = DispatchQueue(label: "StorageKit decoding")
    private let decoder = SegmentDecoder()
    private var underWay: [(size: Int, batch: BackgroundResult<EventBatch>)] = []
    private var size = 0
    private var room = ReadAheadDecoder.fewRows

    /// Adds a segment, and returns the oldest one; nil while there is room for more.
    ///
    /// - Parameter base: The body that the segment is compressed against; an error in it is thrown when the segment is returned.
    func exchange(
        _ header: SegmentHeader, body: UnsafeRawBufferPointer, base: Result<SegmentBase?, any Error>
    ) throws -> EventBatch? {
        let isFull = underWay.count >= room || underWay.count >= Self.fewRows && size >= Self.bytes
        let earlier = isFull ? try next() : nil
        if isFull { room = min(room + 1, Self.manyRows) }
        let (body, decoder) = (Array(body), decoder)
        let batch = BackgroundResult(on: queue) {
            try body.withUnsafeBytes { try decoder.decode(body: $0, of: header, base: base.get()) }
        }
        underWay.append((header.size, batch))
        size += header.size
        return earlier
    }

    /// Returns the oldest segment that wasn't returned yet.
    func next() throws -> EventBatch? {
        guard !underWay.isEmpty else { return nil }
        let oldest = underWay.removeFirst()
        size -= oldest.size
        return try oldest.batch.wait()
    }
}
