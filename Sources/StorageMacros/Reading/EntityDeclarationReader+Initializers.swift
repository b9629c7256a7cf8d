internal import SwiftDiagnostics
internal import SwiftSyntax

extension EntityDeclarationReader {
    /// Reports a struct that can't be initialised from its columns: an initialiser in its body suppresses the memberwise one.
    mutating func checkInitializers(of structure: StructDeclSyntax, _ properties: [StoredProperty]) {
        let initializers = structure.memberBlock.members.compactMap { $0.decl.as(InitializerDeclSyntax.self) }
        guard let first = initializers.first else { return }
        let labels = properties.map(\.column)
        if initializers.contains(where: { takes(labels, $0) }) { return }
        let signature = "init(" + properties.map { "\($0.identifier): \($0.type)" }.joined(separator: ", ") + ")"
        report(
            "missing-initializer", at: first.initKeyword,
            """
            Add '\(signature)', or move this initialiser to an extension: the record makes a \
            '\(structure.name.bareText)' from all its columns, and an initialiser in the struct suppresses the one that \
            the compiler writes.
            """,
            fixIts: [addition(of: signature, to: structure, properties)])
    }

    /// Whether an initialiser can be called with these labels, in this order, from code beside the struct.
    private func takes(_ labels: [String], _ initializer: InitializerDeclSyntax) -> Bool {
        let isPrivate = initializer.modifiers.contains { $0.name.tokenKind == .keyword(.private) }
        let effects = initializer.signature.effectSpecifiers
        let canFail =
            initializer.optionalMark?.tokenKind == .postfixQuestionMark || effects?.asyncSpecifier != nil
            || effects?.throwsClause != nil
        if isPrivate || canFail { return false }
        var expected = labels[...]
        for parameter in initializer.signature.parameterClause.parameters {
            if parameter.firstName.bareText == expected.first {
                expected.removeFirst()
            } else if parameter.defaultValue == nil {
                return false
            }
        }
        return expected.isEmpty
    }

    private func addition(
        of signature: String, to structure: StructDeclSyntax, _ properties: [StoredProperty]
    ) -> FixIt {
        let margin = structure.memberIndentation
        let assignments = properties.map { "\n\(margin)    self.\($0.identifier) = \($0.identifier)" }.joined()
        let end =
            structure.memberBlock.members.last?.endPositionBeforeTrailingTrivia
            ?? structure.memberBlock.leftBrace.endPosition
        return MacroFixIt.insert(
            "\n\n\(margin)\(signature) {\(assignments)\n\(margin)}", at: end, in: structure.memberBlock,
            id: "add-initializer", "Add the memberwise initialiser")
    }
}
