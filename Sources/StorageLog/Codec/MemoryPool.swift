internal import Synchronization

/// Large pieces of memory that batches reuse: the system would zero them at each new allocation.
///
/// Isolation: `Sendable`; free pieces are behind a mutex, and a piece that was taken belongs to its taker.
final class MemoryPool: Sendable {
    /// Sound as `@unchecked Sendable`: it has one owner at a time.
    struct Piece: @unchecked Sendable {
        let start: UnsafeMutableRawPointer
        let capacity: Int

        /// The memory as items of a type; valid for no more items than were requested.
        func bound<Item>(to type: Item.Type) -> UnsafeMutablePointer<Item> { start.assumingMemoryBound(to: type) }
    }

    /// Smaller pieces come faster from the allocator.
    private static let least = 64 << 10
    /// The maximum free memory in the pool, in bytes: about what the few batches take that a long read has at the same time.
    private static let limit = 16 << 20

    private struct Pieces {
        var free: [Piece] = []
        var size = 0
    }

    private let pieces = Mutex(Pieces())

    deinit { pieces.withLock { for piece in $0.free { piece.start.deallocate() } } }

    func take(_ size: Int) -> Piece {
        if size >= Self.least, let known = takeKnown(size) { return known }
        // Extra room for the next batch, which seldom has exactly the same size.
        let capacity = size < Self.least ? max(size, 1) : size + size / 4
        return Piece(start: .allocate(byteCount: capacity, alignment: 16), capacity: capacity)
    }

    /// The smallest free piece that is large enough, but less than four times too large.
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

    /// Frees pieces until the pool holds at most `size` bytes; pieces that are returned later come on top.
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
