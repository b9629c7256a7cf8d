import StorageKit

/// Stored values, exactly as stored: `1` isn't `1.0`.
extension JSONWriter {
    mutating func member(_ name: String, _ field: StorageEvent.Field?) {
        key(name)
        if let field { value(field) } else { null() }
    }

    /// - Parameter column: Determines how to interpret the value; nil to write it as stored.
    mutating func member(_ name: String, _ value: StorageValue?, of column: CatalogColumn?) {
        key(name)
        StoredValueWriter.write(
            value ?? .null, type: column?.type ?? "", coding: column?.coding ?? "", to: &self)
    }

    mutating func value(_ field: StorageEvent.Field) {
        StoredValueWriter.write(field.value, type: field.type, coding: field.coding, to: &self)
    }
}
