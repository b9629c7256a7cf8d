internal import StorageCore
internal import StorageLog

/// Makes Swift values of what columns hold, for properties of every kind that an entity can have.
enum ColumnDecoding {
    /// - Throws: `invalid-value` if it isn't a value of the type.
    static func value<Value>(_ stored: StorageValue, as type: Value.Type) throws -> Value {
        if let column = type as? any StorageColumnValue.Type,
            let value = try column.init(storageValue: stored) as? Value
        {
            return value
        }
        if let raw = type as? any RawRepresentable.Type, let value = try self.raw(stored, as: raw) as? Value {
            return value
        }
        if let optional = type as? any DecodableOptional.Type, let value = try optional.decode(stored) as? Value {
            return value
        }
        throw StorageError(
            .invalidValue, "\(stored) isn't a value of \(Value.self).",
            remedy: "Correct the rows, or subscribe to a property of another type.")
    }

    private static func raw<Raw: RawRepresentable>(_ stored: StorageValue, as type: Raw.Type) throws -> Raw? {
        guard let column = Raw.RawValue.self as? any StorageColumnValue.Type,
            let value = try column.init(storageValue: stored) as? Raw.RawValue
        else { return nil }
        return Raw(rawValue: value)
    }
}

/// An optional of a type that columns know only by its raw value.
private protocol DecodableOptional {
    static func decode(_ stored: StorageValue) throws -> Any
}

extension Optional: DecodableOptional {
    fileprivate static func decode(_ stored: StorageValue) throws -> Any {
        let value: Wrapped? = stored == .null ? nil : try ColumnDecoding.value(stored, as: Wrapped.self)
        return value as Any
    }
}
