internal import SwiftDiagnostics
internal import SwiftSyntax

extension EntityDeclarationReader {
    /// The stored properties in the order of declaration, which is the order of columns and of the initialiser.
    mutating func storedProperties(of structure: StructDeclSyntax, access: AccessLevel) -> [StoredProperty] {
        let qualifier = TypeQualifier(structure)
        var properties: [StoredProperty] = []
        for member in structure.memberBlock.members {
            if let conditional = member.decl.as(IfConfigDeclSyntax.self) {
                checkConditional(conditional)
            } else if let variable = member.decl.as(VariableDeclSyntax.self), !variable.isStatic {
                properties += storedProperties(of: variable, access: access, qualifier)
            }
        }
        return properties
    }

    private mutating func storedProperties(
        of variable: VariableDeclSyntax, access: AccessLevel, _ qualifier: TypeQualifier
    ) -> [StoredProperty] {
        // The collection's own `filter` creates a new tree, whose nodes have lost their position in the file.
        let bindings = Array(variable.bindings).filter(\.isStored)
        if bindings.isEmpty { return [] }
        checkModifiers(of: variable)
        checkConstant(variable)
        let access = min(access, AccessLevel(variable.modifiers) ?? .internal)
        var properties: [StoredProperty] = []
        for (binding, type) in bindings.withTypes.reversed() {
            guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
                report(
                    "tuple", at: binding.pattern,
                    "Declare each property by itself, with its type: a pattern names no columns.")
                continue
            }
            guard let type else {
                reportMissingType(of: binding)
                continue
            }
            guard let role = role(of: variable, name: name.bareText, type: type, qualifier) else { continue }
            if role == .column, !checkStorable(type, of: name, in: variable) { continue }
            checkCaptured(type)
            properties.append(
                StoredProperty(
                    name: name, type: qualifier.qualified(type), access: access, role: role,
                    initializer: binding.initializer?.value,
                    declarationStart: variable.positionAfterSkippingLeadingTrivia))
        }
        return properties.reversed()
    }

    /// Reports a type whose name refers to another type inside the record.
    private mutating func checkCaptured(_ type: TypeSyntax) {
        let search = TypeNameSearch(of: EntityDeclaration.typesOfRecords)
        search.walk(type)
        guard let found = search.found else { return }
        report(
            "type-captured", at: found,
            "Write '\(found.bareText)' with its module or the type around it: the record has a type of that name.",
            fixIts: [
                MacroFixIt.replace(
                    found, with: "<#Module#>.\(found.bareText)", id: "qualify", "Write what it belongs to before it")
            ])
    }

    private mutating func checkModifiers(of variable: VariableDeclSyntax) {
        for modifier in variable.modifiers where modifier.detail == nil {
            switch modifier.name.tokenKind {
            case .keyword(.lazy):
                report(
                    "lazy", at: modifier,
                    "Remove 'lazy', or compute the value: a column is read and written together with its row.",
                    fixIts: [MacroFixIt.remove(modifier, id: "remove-lazy", "Remove 'lazy'")])
            case .keyword(.private):
                report(
                    "private-property", at: modifier,
                    "Make the property fileprivate: the record is declared beside the struct and reads every column.",
                    fixIts: [.toFileprivate(modifier.name)])
            default: break
            }
        }
    }

    /// Reports a constant with a value: it isn't a parameter of the memberwise initialiser, so a row couldn't be read into it.
    private mutating func checkConstant(_ variable: VariableDeclSyntax) {
        guard variable.bindingSpecifier.tokenKind == .keyword(.let),
            let binding = variable.bindings.first(where: { $0.initializer != nil })
        else { return }
        let keyword = variable.bindingSpecifier
        let name = binding.pattern.trimmedDescription
        report(
            "constant", at: keyword,
            "Make '\(name)' a 'var', or a 'static let' if it is no column: no row can be read into a constant that has "
                + "its value already.",
            fixIts: [MacroFixIt.replace(keyword, with: "var", id: "to-var", "Change 'let' to 'var'")])
    }

    private mutating func reportMissingType(of binding: PatternBindingSyntax) {
        let suggestion = binding.initializer.flatMap { suggestedType(for: $0.value) } ?? "<#Type#>"
        let name = binding.pattern.trimmedDescription
        report(
            "missing-type", at: binding.pattern,
            "Write the type of '\(name)': a macro sees the source, not the type that the compiler infers.",
            fixIts: [
                MacroFixIt.insert(
                    ": \(suggestion)", at: binding.pattern.endPositionBeforeTrailingTrivia, in: binding.pattern,
                    id: "add-type", "Add ': \(suggestion.hasPrefix("<#") ? "Type" : suggestion)'")
            ])
    }

    /// The likely type of a literal or of `Name(…)`; only offered to the author, never assumed.
    private func suggestedType(for value: ExprSyntax) -> String? {
        if let negative = value.as(PrefixOperatorExprSyntax.self) { return suggestedType(for: negative.expression) }
        if let call = value.as(FunctionCallExprSyntax.self) {
            let name = call.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text
            return name.flatMap { $0.first?.isUppercase == true ? $0 : nil }
        }
        switch value.kind {
        case .integerLiteralExpr: return "Int"
        case .floatLiteralExpr: return "Double"
        case .stringLiteralExpr: return "String"
        case .booleanLiteralExpr: return "Bool"
        default: return nil
        }
    }

    /// Reports `#if` around properties: the macro doesn't know whether a branch is compiled, which would determine columns and
    /// the initialiser.
    private mutating func checkConditional(_ conditional: IfConfigDeclSyntax) {
        let isWanted = { (member: DeclSyntax) in
            if member.is(InitializerDeclSyntax.self) { return true }
            guard let variable = member.as(VariableDeclSyntax.self), !variable.isStatic else { return false }
            return variable.bindings.contains(where: \.isStored)
        }
        guard conditional.hasMember(where: isWanted), let clause = conditional.clauses.first else { return }
        report(
            "conditional", at: clause.poundKeyword,
            "Move stored properties and initialisers out of '#if': a table has the same columns in every build.")
    }
}
