/// What a provider's sources are stored under: its type's name with those of the types around it, the same in each run.
///
/// Swift's own short name of a type leaves out the types around it, so that `Task.Sources` and `User.Sources` are one. Its long name has
/// modules, and for what is private or local an address, which is another one in each run.
enum ProviderName {
    static func of(_ type: Any.Type) -> String { withoutContexts(String(reflecting: type)) }

    /// - Parameter name: As Swift reflects it: `App.Task.Sources<Swift.Int>`, `(extension in App):Lib.Task.Sources`,
    ///   `App.(unknown context at $7f00).Sources`.
    static func withoutContexts(_ name: String) -> String {
        var (result, rest) = ("", name[...])
        // Whether a name that comes next is a module's, if there is a dot behind it.
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

    /// What stands between names in a type's name.
    private static let separators = Set(".,:<>()[] &-=?@~")
}

extension Substring {
    /// Where the rest begins if this begins with the mark of an extension in another module, or of a place in a file or function.
    fileprivate var endOfContext: Index? {
        let end = hasPrefix("(extension in ") ? ":" : hasPrefix("(unknown context at ") ? ")." : nil
        return end.flatMap { ranges(of: $0).first?.upperBound }
    }
}
