internal import Synchronization

/// Large pieces of memory that go from one batch to the next: the system would fill them with zeros each time that they are
/// given back and taken again.
///
/// Isolation: `Sendable`; what lies in the pool is behind a mutex, a piece that was taken belongs to who took it.
final class MemoryPool: Sendable {
    /// Sound as `@unchecked Sendable`: it has one owner at a time.
    struct Piece: @unchecked Sendable {
        let start: UnsafeMutableRawPointer
        let capacity: Int

        /// Typed memory for so many items at most as were asked for.
        func bound<Item>(to type: Item.Type) -> UnsafeMutablePointer<Item> { start.assumingMemoryBound(to: type) }
    }

    /// Smaller pieces are quicker had from the allocator.
    private static let least = 64 << 10
    /// What lies in the pool at most: about what the few batches take that are there at once in a long read.
    private static let limit = 16 << 20

    private struct Pieces {
        var free: [Piece] = []
        var size = 0
    }

    private let pieces = Mutex(Pieces())

    deinit { pieces.withLock { for piece in $0.free { piece.start.deallocate() } } }

    func take(_ size: Int) -> Piece {
        if size >= Self.least, let known = takeKnown(size) { return known }
        // Some room for the next batch, which is seldom of the very same size.
        let capacity = size < Self.least ? max(size, 1) : size + size / 4
        return Piece(start: .allocate(byteCount: capacity, alignment: 16), capacity: capacity)
    }

    /// The smallest that is large enough, and not much too large.
    private func takeKnown(_ size: Int) -> Piece? {
        pieces.withLock { pieces in
            var best: Int?
            for (index, piece) in pieces.free.enumerated() where piece.capacity >= size && piece.capacity / 4 < size {
                if piece.capacity < best.map({ pieces.free[$0].capacity }) ?? .max { best = index }
            }
            guard let best else { return nil }
            pieces.size -= pieces.free[best].capacity
            return pieces.free.remove(at: best)
        }
    }

    /// Lets go of pieces until so much lies in the pool at most; what is given later comes on top.
    func shrink(to size: Int) {
        pieces.withLock { pieces in
            while pieces.size > size, let piece = pieces.free.popLast() {
                pieces.size -= piece.capacity
                piece.start.deallocate()
            }
        }
    }

    func give(_ piece: Piece) {
        let isKept = pieces.withLock { pieces in
            guard piece.capacity >= Self.least, pieces.size + piece.capacity <= Self.limit else { return false }
            pieces.free.append(piece)
            pieces.size += piece.capacity
            return true
        }
        if !isKept { piece.start.deallocate() }
    }
}
