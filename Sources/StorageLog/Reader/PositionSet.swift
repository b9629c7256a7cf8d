/// A set of positions of the log up to a maximum, one bit each.
package struct PositionSet: Sendable {
    private var words: [UInt64]

    package init(through last: Int64) { words = [UInt64](repeating: 0, count: Int(last / 64) + 1) }

    package mutating func insert(_ position: Int64) { words[Int(position / 64)] |= 1 << UInt64(position % 64) }

    package func contains(_ position: Int64) -> Bool { words[Int(position / 64)] & 1 << UInt64(position % 64) != 0 }

    /// Calls `body` with the positions, newest first, until it returns false.
    package func forEachDescending(_ body: (Int64) throws -> Bool) rethrows {
        for index in words.indices.reversed() {
            var word = words[index]
            while word != 0 {
                let bit = 63 - word.leadingZeroBitCount
                word &= ~(1 << UInt64(bit))
                if try !body(Int64(index) * 64 + Int64(bit)) { return }
            }
        }
    }
}
