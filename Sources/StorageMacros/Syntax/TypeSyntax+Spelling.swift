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
