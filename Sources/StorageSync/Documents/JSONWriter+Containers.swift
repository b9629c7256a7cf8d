package import StorageCore

/// Objects and arrays with the code that writes their content.
extension JSONWriter {
    package mutating func object(_ members: (inout JSONWriter) -> Void) {
        beginObject()
        members(&self)
        endObject()
    }

    package mutating func array<Element>(
        _ elements: some Sequence<Element>, _ write: (Element, inout JSONWriter) -> Void
    ) {
        beginArray()
        for element in elements { write(element, &self) }
        endArray()
    }

    /// Writes an object whose values are already JSON, by key.
    package mutating func fields(_ fields: [String: String]) {
        object { json in
            for (name, value) in fields.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                json.key(name)
                json.raw(value)
            }
        }
    }

    // MARK: Members of objects

    package mutating func text(_ text: String, for name: String) {
        key(name)
        self.text(text)
    }

    package mutating func integer(_ number: Int64, for name: String) {
        key(name)
        integer(number)
    }

    package mutating func bool(_ value: Bool, for name: String) {
        key(name)
        bool(value)
    }
}
