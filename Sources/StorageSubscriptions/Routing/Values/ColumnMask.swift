/// A set of columns by their places in a ``RowLayout``, as the bits of a number. Columns from the 64th on share the last
/// bit, so for them the set may seem larger than it is.
package struct ColumnMask: Sendable, Hashable {
    package var bits: UInt64

    package static let none = ColumnMask(bits: 0)
    package static let all = ColumnMask(bits: .max)

    package init(bits: UInt64) { self.bits = bits }

    package init(place: Int) { bits = 1 << UInt64(min(place, 63)) }

    package mutating func insert(_ place: Int) { bits |= 1 << UInt64(min(place, 63)) }

    package func contains(_ place: Int) -> Bool { bits & 1 << UInt64(min(place, 63)) != 0 }

    package func intersects(_ other: ColumnMask) -> Bool { bits & other.bits != 0 }

    package mutating func formUnion(_ other: ColumnMask) { bits |= other.bits }
}
