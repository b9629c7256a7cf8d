internal import SwiftSyntax

extension ExprSyntax {
    /// The type to write for a property that begins as `QuerySource(…)`, or as a closure that returns one; nil for any other
    /// value. Parts that the source doesn't show are left open.
    ///
    /// Only offered to the author, never assumed.
    var suggestedSourceType: String? {
        if let closure = self.as(ClosureExprSyntax.self) {
            let source = closure.signature?.returnClause.flatMap {
                $0.type.isQuerySource ? $0.type.trimmedDescription : nil
            }
            guard let source = source ?? closure.statements.last?.returned?.suggestedSourceType else { return nil }
            return "(\(closure.typeOfParameter ?? "<#Parameter#>")) -> \(source)"
        }
        guard let call = self.as(FunctionCallExprSyntax.self) else { return nil }
        if let name = call.calledExpression.nameOfQuerySource {
            if name.is(GenericSpecializationExprSyntax.self) { return name.trimmedDescription }
            let entity = call.arguments.first?.expression.entityOfRequest
            return "\(name.trimmedDescription)<\(entity?.trimmedDescription ?? "<#Entity#>")>"
        }
        // `.remote { … }` and `.cache(…)` follow.
        return call.calledExpression.as(MemberAccessExprSyntax.self)?.base?.suggestedSourceType
    }

    /// The type that an initialiser call names, if it is `QuerySource`.
    private var nameOfQuerySource: ExprSyntax? {
        if let name = self.as(DeclReferenceExprSyntax.self) {
            return name.baseName.text == "QuerySource" ? self : nil
        }
        if let generic = self.as(GenericSpecializationExprSyntax.self) {
            return generic.expression.nameOfQuerySource == nil ? nil : self
        }
        guard let member = self.as(MemberAccessExprSyntax.self) else { return nil }
        if member.declName.baseName.tokenKind == .keyword(.`init`) { return member.base?.nameOfQuerySource }
        guard member.declName.baseName.text == "QuerySource", let base = member.base else { return nil }
        return base.is(DeclReferenceExprSyntax.self) ? self : nil
    }

    /// The expression before the first call of a request: `Task` in `Task.all().limit(10)`.
    private var entityOfRequest: ExprSyntax? {
        guard let member = self.as(FunctionCallExprSyntax.self)?.calledExpression.as(MemberAccessExprSyntax.self),
            let base = member.base
        else { return nil }
        if base.is(FunctionCallExprSyntax.self) { return base.entityOfRequest }
        let name =
            base.as(DeclReferenceExprSyntax.self)?.baseName ?? base.as(MemberAccessExprSyntax.self)?.declName.baseName
        return name?.text.first?.isUppercase == true ? base.trimmed : nil
    }
}

extension ClosureExprSyntax {
    /// The type of the only parameter, if it is written.
    fileprivate var typeOfParameter: String? {
        guard case .parameterClause(let clause) = signature?.parameterClause, clause.parameters.count == 1 else {
            return nil
        }
        return clause.parameters.first?.type?.trimmedDescription
    }
}

extension CodeBlockItemSyntax {
    /// The value of a `return`, or of the last expression of a body.
    fileprivate var returned: ExprSyntax? {
        item.as(ReturnStmtSyntax.self)?.expression ?? item.as(ExprSyntax.self)
    }
}
