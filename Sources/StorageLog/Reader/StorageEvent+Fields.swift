public import StorageCore

extension Collection where Element == StorageEvent.Field {
    /// The value of a column; nil if the column isn't among the fields.
    ///
    /// ```swift
    /// for try await event in storage.log.events() where event.new?["status"] == "open" {
    ///     print(event.position, event.old?["status"] ?? .null)
    /// }
    /// ```
    ///
    /// Names are compared byte for byte. Costs a comparison for each field.
    public subscript(column: String) -> StorageValue? {
        first { $0.column.utf8.elementsEqual(column.utf8) }?.value
    }
}
