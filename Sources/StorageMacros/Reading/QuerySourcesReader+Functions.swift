internal import SwiftDiagnostics
internal import SwiftSyntax

extension QuerySourcesReader {
    /// Reports a function that returns a source, unless it is private and so only a helper.
    mutating func checkFunction(_ function: FunctionDeclSyntax) {
        guard let source = function.signature.returnClause?.type, source.isQuerySource,
            AccessLevel(function.modifiers) != .fileprivate
        else { return }
        let name = function.name.bareText
        let parameters = function.signature.parameterClause.parameters
        let remedy =
            switch parameters.count {
            case 0: "Make '\(name)' a computed property"
            case 1: "Make '\(name)' a property that holds a closure"
            default: "Make '\(name)' a property that holds a closure of one parameter, a struct of all that it takes"
            }
        report(
            "source-function", at: function.name,
            "\(remedy), or a private function if it only helps others: a key path names properties only.",
            fixIts: [toProperty(function, source.trimmed) ?? toPrivate(function)])
    }

    private func toPrivate(_ function: FunctionDeclSyntax) -> FixIt {
        let message = "Make it private"
        if let stated = function.modifiers.first(where: { AccessLevel($0) != nil }) {
            return MacroFixIt.replace(stated.name, with: "private", id: "to-private", message)
        }
        let first = function.modifiers.first?.name ?? function.funcKeyword
        return MacroFixIt.insert(
            "private ", at: first.positionAfterSkippingLeadingTrivia, in: first, id: "to-private", message)
    }

    /// nil if a property can't express what the function does.
    private func toProperty(_ function: FunctionDeclSyntax, _ source: TypeSyntax) -> FixIt? {
        let isPlain =
            function.attributes.isEmpty && function.genericParameterClause == nil
            && function.signature.effectSpecifiers == nil && function.modifiers.allSatisfy { AccessLevel($0) != nil }
        let parameters = function.signature.parameterClause.parameters
        guard isPlain, parameters.count <= 1, let body = function.body else { return nil }
        let name = function.name.trimmed.text
        guard let parameter = parameters.first else {
            return MacroFixIt.edit(
                function.funcKeyword.positionAfterSkippingLeadingTrivia..<body.positionAfterSkippingLeadingTrivia,
                in: function, to: "var \(name): \(source) ", id: "to-property", "Make it a computed property")
        }
        let type = parameter.type.trimmed
        guard parameter.ellipsis == nil, parameter.defaultValue == nil, !type.is(AttributedTypeSyntax.self) else {
            return nil
        }
        let local = (parameter.secondName ?? parameter.firstName).trimmed.text
        let margin = function.enclosing(StructDeclSyntax.self)?.memberIndentation ?? "    "
        let closure = """
            var \(name): (\(type)) -> \(source) {
            \(margin)    { \(local) in
            \(margin)        \(text(of: body))
            \(margin)    }
            \(margin)}
            """
        return MacroFixIt.edit(
            function.funcKeyword.positionAfterSkippingLeadingTrivia..<body.endPositionBeforeTrailingTrivia,
            in: function, to: closure, id: "to-property", "Make it a property that holds a closure")
    }

    /// The content of a body, indented one level deeper from its second line on.
    private func text(of body: CodeBlockSyntax) -> String {
        let inside =
            body.leftBrace.trailingTrivia.description + body.statements.description
            + body.rightBrace.leadingTrivia.description
        let trimmed = inside.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()
        return String(trimmed).split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .map { $0 == 0 || $1.isEmpty ? String($1) : "    \($1)" }
            .joined(separator: "\n")
    }
}
