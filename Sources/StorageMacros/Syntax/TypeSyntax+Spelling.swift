internal import SwiftSyntax

extension TypeSyntax {
    /// The type inside `T?`, `T!` or `Optional<T>`.
    var wrappedInOptional: TypeSyntax? {
        if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.trimmed }
        // `T!` is an optional that only a declaration can spell that way.
        if let optional = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) { return optional.wrappedType.trimmed }
        return argument(of: "Optional")
    }

    /// Whether it is `[T]` or `Array<T>`.
    var isArray: Bool { self.is(ArrayTypeSyntax.self) || argument(of: "Array") != nil }

    /// Whether it is an array, a set or a dictionary, as literals or names of the standard library spell them.
    var isCollection: Bool {
        if self.is(ArrayTypeSyntax.self) || self.is(DictionaryTypeSyntax.self) { return true }
        if let type = self.as(IdentifierTypeSyntax.self) {
            return type.genericArgumentClause != nil && Self.collections.contains(type.name.text)
        }
        guard let type = self.as(MemberTypeSyntax.self), type.baseType.trimmedDescription == "Swift" else {
            return false
        }
        return type.genericArgumentClause != nil && Self.collections.contains(type.name.text)
    }

    private static let collections: Set<String> = ["Array", "ContiguousArray", "Set", "Dictionary"]

    /// Whether it is a tuple of several values, or of none.
    var isTuple: Bool {
        guard let elements = self.as(TupleTypeSyntax.self)?.elements else { return false }
        return elements.count != 1
    }

    /// Whether it is a function, also in parentheses.
    var isFunction: Bool {
        if self.is(FunctionTypeSyntax.self) { return true }
        if let type = self.as(AttributedTypeSyntax.self) { return type.baseType.isFunction }
        guard let elements = self.as(TupleTypeSyntax.self)?.elements, elements.count == 1 else { return false }
        return elements.first?.type.isFunction ?? false
    }

    /// The only argument of a generic type of the standard library.
    private func argument(of name: String) -> TypeSyntax? {
        let clause: GenericArgumentClauseSyntax?
        if let type = self.as(IdentifierTypeSyntax.self), type.name.text == name {
            clause = type.genericArgumentClause
        } else if let type = self.as(MemberTypeSyntax.self), type.name.text == name,
            type.baseType.trimmedDescription == "Swift"
        {
            clause = type.genericArgumentClause
        } else {
            return nil
        }
        guard let only = clause?.arguments.first, clause?.arguments.count == 1 else { return nil }
        return only.argument.as(TypeSyntax.self)?.trimmed
    }
}
