/// Bytes of keys, one after another. Emptied for each change, it keeps its memory.
///
/// Isolation: not `Sendable`; one owner uses it.
package final class KeyBuffer {
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity = 512
    package private(set) var count = 0

    package init() { base = .allocate(capacity: capacity) }

    deinit { base.deallocate() }

    package func removeAll() { count = 0 }

    /// Valid until something is appended.
    package func bytes(from start: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + start, count: count - start)
    }

    @inline(__always)
    func bytes(at start: Int, count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + start, count: count)
    }

    @inline(__always)
    private func reserve(_ size: Int) -> UnsafeMutablePointer<UInt8> {
        if count + size > capacity { grow(count + size) }
        return base + count
    }

    private func grow(_ needed: Int) {
        let larger = max(capacity * 2, needed)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        moved.update(from: base, count: count)
        base.deallocate()
        base = moved
        capacity = larger
    }

    @inline(__always)
    func append(_ byte: UInt8) {
        reserve(1).pointee = byte
        count += 1
    }

    /// Highest byte first, so that bytes are in the order of the numbers.
    @inline(__always)
    func append(_ number: UInt64) {
        UnsafeMutableRawPointer(reserve(8)).storeBytes(of: number.bigEndian, as: UInt64.self)
        count += 8
    }

    func append(_ source: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(start: reserve(source.count), count: source.count).copyMemory(from: source)
        count += source.count
    }

    /// Ends the bytes appended from an offset on as one part of a longer key: with two zeros, which the part can't
    /// contain because each zero of its own is followed by a mark. An empty part is a single zero, which sorts before
    /// all others.
    func endPart(from start: Int) {
        guard count > start else { return append(Part.end) }
        let zeros = bytes(from: start).count { $0 == 0 }
        let room = reserve(zeros + 2) - (count - start)
        var (from, to) = (count - start, count - start + zeros)
        while to > from {
            from -= 1
            to -= 1
            room[to] = room[from]
            guard room[from] == 0 else { continue }
            room[to] = Part.inside
            to -= 1
            room[to] = 0
        }
        count += zeros
        append(Part.end)
        append(Part.end)
    }

    /// What separates the parts of a key.
    package enum Part {
        package static let end: UInt8 = 0
        /// Behind a zero that belongs to the part.
        static let inside: UInt8 = 0xFF
    }

    /// Inverts all bits from an offset on, which reverses the order.
    package func invert(from start: Int) {
        for index in start..<count { base[index] = ~base[index] }
    }

    /// Letters from A to Z as small ones.
    func append(folding source: UnsafeRawBufferPointer) {
        let start = reserve(source.count)
        for (index, byte) in source.enumerated() { start[index] = byte &- 0x41 < 26 ? byte + 32 : byte }
        count += source.count
    }
}
