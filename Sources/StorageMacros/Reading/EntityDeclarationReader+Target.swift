internal import SwiftDiagnostics
internal import SwiftSyntax

extension EntityDeclarationReader {
    /// The struct that the macro is attached to.
    mutating func structure(_ declaration: some DeclSyntaxProtocol) -> StructDeclSyntax? {
        structure(declaration, because: "an entity is a value, so @StorageEntity works on structs only") {
            "Keep '\($0)' as a property of a struct"
        }
    }

    /// Reports what the struct's context or declaration doesn't allow.
    mutating func checkSurroundings(of structure: StructDeclSyntax) {
        let name = structure.name.bareText
        if let parameters = structure.genericParameterClause {
            report(
                "generic", at: parameters,
                "Remove the generic parameters of '\(name)': an entity is one table, with one type for each column.",
                fixIts: [MacroFixIt.remove(parameters, id: "remove-generics", "Remove '\(parameters.trimmed)'")])
        }
        if name == "E" {
            report(
                "entity-name", at: structure.name,
                "Rename 'E': every record calls its entity 'E', and a name can't stand for itself.",
                fixIts: [.rename(structure.name)])
        } else if EntityDeclaration.typesOfRecords.contains(name) {
            report(
                "entity-name", at: structure.name,
                "Rename '\(name)': every record has a type of that name, which would hide its entity.",
                fixIts: [.rename(structure.name)])
        }
        if lexicalContext.contains(where: isCode) {
            report(
                "local", at: structure.name,
                "Move '\(name)' out of this function: declare it in a type or at the top level of a file."
            )
            return
        }
        if lexicalContext.contains(where: isGeneric) {
            report(
                "generic-parent", at: structure.name,
                "Move '\(name)' out of the generic type around it: an entity is one table, whatever the parameters.")
        }
        checkReach(of: structure, "private-entity", purpose: "registered")
    }

    private func isGeneric(_ syntax: Syntax) -> Bool {
        syntax.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
    }

    private func isCode(_ syntax: Syntax) -> Bool {
        switch syntax.kind {
        case .functionDecl, .initializerDecl, .deinitializerDecl, .accessorDecl, .subscriptDecl, .closureExpr: true
        default: false
        }
    }
}
