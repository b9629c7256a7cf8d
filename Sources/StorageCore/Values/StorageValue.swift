public import Foundation

/// One value of a column, in SQLite's five storage classes.
///
/// Equality and hashing are exact to the byte, as the log stores values: `1` is not `1.0`, `0.0` is not `-0.0`, and text is
/// compared by its UTF-8 bytes, so `é` as one character differs from `e` with a combining accent.
public enum StorageValue: Sendable {
    /// SQL's NULL.
    case null
    /// A 64-bit integer.
    case integer(Int64)
    /// A floating-point number.
    case real(Double)
    /// A text.
    case text(String)
    /// Bytes.
    case blob(Data)
}

extension StorageValue: Hashable {
    public static func == (left: StorageValue, right: StorageValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let a), .integer(let b)): a == b
        case (.real(let a), .real(let b)): a.bitPattern == b.bitPattern
        case (.text(let a), .text(let b)): a.utf8.elementsEqual(b.utf8)
        case (.blob(let a), .blob(let b)): a == b
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let value): hasher.combine(value)
        case .real(let value): hasher.combine(value.bitPattern)
        case .text(let value):
            var value = value
            value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .blob(let value): hasher.combine(value)
        }
    }
}

extension StorageValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral {
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A real.
    public init(floatLiteral value: Double) { self = .real(value) }
    /// A text.
    public init(stringLiteral value: String) { self = .text(value) }
}

extension StorageValue: CustomStringConvertible {
    /// The value in readable form: text in quotes, blobs as `x'…'`, NULL as `NULL`.
    public var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): String(value)
        case .real(let value): "\(value)"
        case .text(let value): "\"\(value)\""
        case .blob(let value): "x'\(Hexadecimal.text(value))'"
        }
    }
}
