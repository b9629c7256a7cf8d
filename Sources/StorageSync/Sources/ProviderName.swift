/// The name under which a provider's sources are stored: its type's name with the enclosing types, the same in each
/// run.
///
/// Swift's short name of a type omits the enclosing types, so `Task.Sources` and `User.Sources` would be the same. Its
/// long name includes modules and, for private and local types, an address that differs in each run.
enum ProviderName {
    static func of(_ type: Any.Type) -> String { withoutContexts(String(reflecting: type)) }

    /// - Parameter name: The name reflected by Swift: `App.Task.Sources<Swift.Int>`, `(extension in
    ///   App):Lib.Task.Sources`, `App.(unknown context at $7f00).Sources`.
    static func withoutContexts(_ name: String) -> String {
        var (result, rest) = ("", name[...])
        // Whether the next name is a module if a dot follows it.
        var isFirst = true
        while let character = rest.first {
            if let end = rest.endOfContext {
                rest = rest[end...]
                continue
            }
            let part = rest.prefix { !separators.contains($0) }
            rest = rest.dropFirst(max(part.count, 1))
            if part.isEmpty {
                result.append(character)
                isFirst = character != "."
            } else if isFirst, rest.first == "." {
                rest = rest.dropFirst()
                isFirst = false
            } else {
                result += part
                isFirst = false
            }
        }
        return result
    }

    /// The separators between names in a type's name.
    private static let separators = Set(".,:<>()[] &-=?@~")
}

extension Substring {
    /// The end of a prefix that denotes an extension in another module, or a file or function.
    fileprivate var endOfContext: Index? {
        let end = hasPrefix("(extension in ") ? ":" : hasPrefix("(unknown context at ") ? ")." : nil
        return end.flatMap { ranges(of: $0).first?.upperBound }
    }
}
