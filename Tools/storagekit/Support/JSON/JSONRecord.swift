import StorageCore

/// The content of a JSON object.
protocol JSONRecord {
    /// Writes the members in their order.
    func write(to json: inout JSONWriter) throws
}

/// Objects that are written as they are found, because there may be more of them than memory holds.
struct JSONStream<Element: JSONRecord> {
    /// Calls a closure with each element.
    let forEach: (_ body: (Element) throws -> Void) throws -> Void
}
