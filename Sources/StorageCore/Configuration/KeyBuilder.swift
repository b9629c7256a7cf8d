/// Builds cache keys in such a way that two things with different names never share one.
///
/// ```swift
/// let keys = KeyBuilder(namespace: "myapp")
/// let userKey = keys.entityKey(User.self, id: "1")
/// let queryKey = keys.queryKey("search", params: ["text": "swift"])
/// ```
public struct KeyBuilder: Sendable, Hashable {
    /// The prefix of all keys.
    public let namespace: String

    /// Creates a builder whose keys begin with a prefix.
    public init(namespace: String) { self.namespace = namespace }

    /// Returns the key of an entity, such as `myapp.User:1`. Types of one name in different scopes have the same keys: use builders with
    /// different namespaces for them.
    public func entityKey<T>(_ type: T.Type, id: String) -> String {
        "\(escaped(namespace)).\(escaped("\(type)")):\(escaped(id))"
    }

    /// Returns the key of a query, with its parameters sorted by name, such as `myapp.query:recent?limit=10`.
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
