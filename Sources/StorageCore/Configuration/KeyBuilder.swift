/// Builds the keys of caches so that two different things never share one.
public struct KeyBuilder: Sendable, Hashable {
    /// The prefix of all keys.
    public let namespace: String

    /// Creates a builder of keys with a prefix.
    public init(namespace: String) { self.namespace = namespace }

    /// `myapp.User:1`
    public func entityKey<T>(_ type: T.Type, id: String) -> String {
        "\(escaped(namespace)).\(escaped("\(type)")):\(escaped(id))"
    }

    /// `myapp.query:recent?limit=10`, parameters by name.
    public func queryKey(_ name: String, params: [String: String] = [:]) -> String {
        let list = params.sorted { $0.key < $1.key }.map { "\(escaped($0.key))=\(escaped($0.value))" }
        return "\(escaped(namespace)).query:\(escaped(name))" + (list.isEmpty ? "" : "?" + list.joined(separator: "&"))
    }

    /// Escapes the separators of keys within their parts.
    private func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "%": result += "%25"
            case ":": result += "%3A"
            case "?": result += "%3F"
            case "&": result += "%26"
            case "=": result += "%3D"
            default: result.append(character)
            }
        }
        return result
    }
}
