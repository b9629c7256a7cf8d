import StorageCore

/// A value of the protocol's own messages, written as a literal. Members keep their order.
enum MCPValue: Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    case text(String)
    /// Text that is already JSON.
    case json(String)
    case array([MCPValue])
    case object([(name: String, value: MCPValue)])

    /// The value as JSON on one line.
    var text: String {
        var json = JSONWriter()
        write(to: &json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private func write(to json: inout JSONWriter) {
        switch self {
        case .null: json.null()
        case .bool(let value): json.bool(value)
        case .integer(let value): json.integer(Int64(value))
        case .text(let value): json.text(value)
        case .json(let value): json.raw(value)
        case .array(let values):
            json.beginArray()
            for value in values { value.write(to: &json) }
            json.endArray()
        case .object(let members):
            json.beginObject()
            for (name, value) in members {
                json.key(name)
                value.write(to: &json)
            }
            json.endObject()
        }
    }

    /// Adds members to an object.
    func adding(_ other: MCPValue) -> MCPValue {
        guard case .object(let members) = self, case .object(let more) = other else { return self }
        return .object(members + more)
    }
}

extension MCPValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int) { self = .integer(value) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(arrayLiteral elements: MCPValue...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, MCPValue)...) {
        self = .object(elements.map { (name: $0.0, value: $0.1) })
    }
}
