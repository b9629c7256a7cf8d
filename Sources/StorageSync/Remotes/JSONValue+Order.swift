extension JSONValue {
    /// The kinds of values, which are only compared among themselves. The raw values are the order of kinds.
    package enum Kind: Int {
        case null, bool, number, string, array, object
    }

    package var kind: Kind {
        switch self {
        case .null: .null
        case .bool: .bool
        case .integer, .number: .number
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }

    /// Negative, zero or positive, as `left` sorts before, equal to or after `right`.
    ///
    /// Uses Firestore's order: null, booleans (false first), numbers, texts by UTF-8 bytes, arrays by elements, objects
    /// by sorted keys with their values. NaN sorts before all other numbers.
    ///
    /// See "Value type ordering" in Firestore's documentation of data types.
    package static func order(_ left: JSONValue, _ right: JSONValue) -> Int {
        switch (left, right) {
        case (.bool(let a), .bool(let b)): a == b ? 0 : b ? -1 : 1
        case (.integer(let a), .integer(let b)): a < b ? -1 : a > b ? 1 : 0
        case (.integer(let a), .number(let b)): order(a, b)
        case (.number(let a), .integer(let b)): -order(b, a)
        case (.number(let a), .number(let b)): a.isNaN || b.isNaN ? rank(a) - rank(b) : a < b ? -1 : a > b ? 1 : 0
        case (.string(let a), .string(let b)): order(a, b)
        case (.array(let a), .array(let b)): order(a, b)
        case (.object(let a), .object(let b)): order(a, b)
        default: left.kind.rawValue - right.kind.rawValue
        }
    }

    /// By UTF-8 bytes.
    package static func order(_ left: String, _ right: String) -> Int {
        if left.utf8.elementsEqual(right.utf8) { return 0 }
        return left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
    }

    private static func rank(_ number: Double) -> Int { number.isNaN ? 0 : 1 }

    private static func order(_ integer: Int64, _ number: Double) -> Int {
        if number.isNaN { return 1 }
        if number >= 0x1p63 { return -1 }
        if number < -0x1p63 { return 1 }
        // The integer may not be exactly representable as a Double, so the Double is split into an integer and a
        // fraction.
        let whole = Int64(number)
        if integer != whole { return integer < whole ? -1 : 1 }
        let rest = number - Double(whole)
        return rest > 0 ? -1 : rest < 0 ? 1 : 0
    }

    private static func order(_ left: [JSONValue], _ right: [JSONValue]) -> Int {
        for (a, b) in zip(left, right) {
            let order = order(a, b)
            if order != 0 { return order }
        }
        return left.count - right.count
    }

    private static func order(_ left: [String: JSONValue], _ right: [String: JSONValue]) -> Int {
        let (a, b) = (left.sorted { order($0.key, $1.key) < 0 }, right.sorted { order($0.key, $1.key) < 0 })
        for (a, b) in zip(a, b) {
            let keys = order(a.key, b.key)
            if keys != 0 { return keys }
            let values = order(a.value, b.value)
            if values != 0 { return values }
        }
        return a.count - b.count
    }
}
