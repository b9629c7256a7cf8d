internal import SwiftSyntax

extension TypeSyntax {
    /// Whether it is `QuerySource<…>`, also with a module before it.
    var isQuerySource: Bool {
        let type = withoutParentheses
        if let type = type.as(IdentifierTypeSyntax.self) { return type.name.text == "QuerySource" }
        guard let type = type.as(MemberTypeSyntax.self) else { return false }
        return type.name.text == "QuerySource" && type.baseType.is(IdentifierTypeSyntax.self)
    }

    /// The function type that it is, where one call or several return a `QuerySource<…>`.
    var functionToSource: FunctionTypeSyntax? {
        guard let function = withoutParentheses.as(FunctionTypeSyntax.self) else { return nil }
        let result = function.returnClause.type
        return result.isQuerySource || result.functionToSource != nil ? function : nil
    }

    /// Whether a property of this type is a source, or makes one.
    var isSource: Bool { isQuerySource || functionToSource != nil }

    /// The type inside of parentheses, and without attributes such as `@Sendable`.
    private var withoutParentheses: TypeSyntax {
        if let attributed = self.as(AttributedTypeSyntax.self) { return attributed.baseType.withoutParentheses }
        guard let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1, let only = tuple.elements.first,
            only.firstName == nil
        else { return self }
        return only.type.withoutParentheses
    }
}

extension FunctionTypeSyntax {
    /// What is returned in the end, by as many calls as it takes.
    var source: TypeSyntax { returnClause.type.functionToSource?.source ?? returnClause.type.trimmed }

    /// How many values it takes to have a source: those of a tuple, and of functions that are returned, counted.
    var countOfParameters: Int {
        let own = parameters.count
        let values = own == 1 ? parameters.first?.type.as(TupleTypeSyntax.self)?.elements.count ?? 1 : own
        return max(1, values) * min(1, own) + (returnClause.type.functionToSource?.countOfParameters ?? 0)
    }
}
