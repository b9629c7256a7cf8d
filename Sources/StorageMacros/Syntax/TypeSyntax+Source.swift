internal import SwiftSyntax

extension TypeSyntax {
    /// Whether it is `QuerySource<…>`, with or without a module prefix.
    var isQuerySource: Bool {
        let type = withoutParentheses
        if let type = type.as(IdentifierTypeSyntax.self) { return type.name.text == "QuerySource" }
        guard let type = type.as(MemberTypeSyntax.self) else { return false }
        return type.name.text == "QuerySource" && type.baseType.is(IdentifierTypeSyntax.self)
    }

    /// The function type, if one or several calls return a `QuerySource<…>`.
    var functionToSource: FunctionTypeSyntax? {
        guard let function = withoutParentheses.as(FunctionTypeSyntax.self) else { return nil }
        let result = function.returnClause.type
        return result.isQuerySource || result.functionToSource != nil ? function : nil
    }

    /// Whether a property of this type is a source, or returns one.
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
    /// The final result type, after as many calls as necessary.
    var source: TypeSyntax { returnClause.type.functionToSource?.source ?? returnClause.type.trimmed }

    /// The number of values that are needed to get a source: elements of tuples, and parameters of returned functions, included.
    var countOfParameters: Int {
        let own = parameters.count
        let values = own == 1 ? parameters.first?.type.as(TupleTypeSyntax.self)?.elements.count ?? 1 : own
        return max(1, values) * min(1, own) + (returnClause.type.functionToSource?.countOfParameters ?? 0)
    }
}
