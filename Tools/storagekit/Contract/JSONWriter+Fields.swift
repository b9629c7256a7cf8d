import StorageKit

/// Stored values, exactly as they are: `1` isn't `1.0`.
extension JSONWriter {
    mutating func member(_ name: String, _ field: StorageEvent.Field?) {
        key(name)
        if let field { value(field) } else { null() }
    }

    mutating func value(_ field: StorageEvent.Field) {
        StoredValueWriter.write(field.value, type: field.type, coding: field.coding, to: &self)
    }
}
