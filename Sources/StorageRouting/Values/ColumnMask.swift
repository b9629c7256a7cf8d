/// A set of columns by their indices in a ``RowLayout``, as the bits of a number. Columns from the 64th on share the
/// last bit, so that the set may appear to contain more of them than it does.
package struct ColumnMask: Sendable, Hashable {
    package var bits: UInt64
    private static var lastBit: Int { 63 }

    package static let none = ColumnMask(bits: 0)
    package static let all = ColumnMask(bits: .max)

    package init(bits: UInt64) { self.bits = bits }

    package init(index: Int) { bits = 1 << UInt64(min(index, Self.lastBit)) }

    package mutating func insert(_ index: Int) { bits |= 1 << UInt64(min(index, Self.lastBit)) }

    package func contains(_ index: Int) -> Bool { bits & 1 << UInt64(min(index, Self.lastBit)) != 0 }

    package func intersects(_ other: ColumnMask) -> Bool { bits & other.bits != 0 }

    package mutating func formUnion(_ other: ColumnMask) { bits |= other.bits }
}
