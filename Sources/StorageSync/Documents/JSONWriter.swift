/// Writes a JSON text without white space. It adds commas; the caller is responsible for the structure.
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init() {}

    package mutating func object(_ members: (inout JSONWriter) -> Void) {
        open("{")
        members(&self)
        close("}")
    }

    package mutating func array<Element>(
        _ elements: some Sequence<Element>, _ write: (Element, inout JSONWriter) -> Void
    ) {
        open("[")
        for element in elements { write(element, &self) }
        close("]")
    }

    package mutating func string(_ text: String) {
        beginValue()
        JSONText.quote(text, to: &bytes)
    }

    package mutating func integer(_ number: Int64) { json(String(number)) }
    package mutating func bool(_ value: Bool) { json(value ? "true" : "false") }

    /// Writes a value that is already JSON.
    package mutating func json(_ json: String) {
        beginValue()
        bytes += json.utf8
    }

    // MARK: Members of objects

    package mutating func key(_ name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    package mutating func string(_ text: String, for name: String) {
        key(name)
        string(text)
    }

    package mutating func integer(_ number: Int64, for name: String) {
        key(name)
        integer(number)
    }

    package mutating func bool(_ value: Bool, for name: String) {
        key(name)
        bool(value)
    }

    /// Writes an object whose values are already JSON, by key.
    package mutating func fields(_ fields: [String: String]) {
        object { json in
            for (name, value) in fields.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                json.key(name)
                json.json(value)
            }
        }
    }

    private mutating func open(_ bracket: Unicode.Scalar) {
        beginValue()
        bytes.append(UInt8(ascii: bracket))
        needsComma = false
    }

    private mutating func close(_ bracket: Unicode.Scalar) {
        bytes.append(UInt8(ascii: bracket))
        needsComma = true
    }

    private mutating func beginValue() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }
}
