internal import SwiftDiagnostics
internal import SwiftSyntax

extension EntityReader {
    /// The struct that the macro is attached to.
    mutating func structure(_ declaration: some DeclSyntaxProtocol) -> StructDeclSyntax? {
        if let structure = declaration.as(StructDeclSyntax.self) { return structure }
        let because = "an entity is a value, so @StorageEntity works on structs only"
        if let type = declaration.as(ClassDeclSyntax.self) {
            report(
                "not-a-struct", at: type.classKeyword, "Make '\(type.name.bareText)' a struct: \(because).",
                fixIts: [toStruct(type)])
        } else if let type = declaration.as(EnumDeclSyntax.self) {
            report(
                "not-a-struct", at: type.enumKeyword,
                "Keep '\(type.name.bareText)' as a property of a struct: \(because).")
        } else if let type = declaration.as(ActorDeclSyntax.self) {
            report(
                "not-a-struct", at: type.actorKeyword, "Make '\(type.name.bareText)' a struct: \(because).",
                fixIts: [
                    MacroFixIt.replace(
                        type.actorKeyword, with: "struct", id: "to-struct", "Change 'actor' to 'struct'")
                ])
        } else {
            report("not-a-struct", at: attribute.attributeName, "Attach it to a struct: \(because).")
        }
        return nil
    }

    /// `final` has no meaning on a struct, so it goes with the word `class`.
    private func toStruct(_ type: ClassDeclSyntax) -> FixIt {
        let keyword = FixIt.Change.replaceText(
            range: type.classKeyword.trimmedRange, with: "struct", in: Syntax(type.classKeyword))
        let final = type.modifiers.first { $0.name.tokenKind == .keyword(.final) }.map {
            FixIt.Change.replaceText(
                range: $0.positionAfterSkippingLeadingTrivia..<$0.endPosition, with: "", in: Syntax($0))
        }
        return FixIt(
            message: MacroFixIt("to-struct", "Change 'class' to 'struct'"), changes: [final, keyword].compactMap { $0 })
    }

    /// Reports what the struct's place or head forbids.
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
        }
        if lexicalContext.contains(where: isCode) {
            report(
                "local", at: structure.name,
                "Move '\(name)' out of this function: its record needs a place in a type or at the top of a file.")
            return
        }
        if lexicalContext.contains(where: isGeneric) {
            report(
                "generic-parent", at: structure.name,
                "Move '\(name)' out of the generic type around it: an entity is one table, whatever the parameters.")
        }
        checkReach(of: structure)
    }

    /// The registration is an extension at the top of the file, where what is private to a type can't be named.
    private mutating func checkReach(of structure: StructDeclSyntax) {
        if lexicalContext.isEmpty { return }
        let name = structure.name.bareText
        if let modifier = structure.modifiers.first(where: isPrivate) {
            report(
                "private-entity", at: modifier,
                "Make '\(name)' fileprivate: what is private to the type around it can't be registered.",
                fixIts: [.toFileprivate(modifier.name)])
            return
        }
        let hidden = lexicalContext.dropLast().contains { parent in
            parent.asProtocol((any WithModifiersSyntax).self)?.modifiers.contains(where: isPrivate) ?? false
        }
        if hidden {
            report(
                "private-entity", at: structure.name,
                "Make the private type around '\(name)' fileprivate: what is inside it can't be registered.")
        }
    }

    private func isPrivate(_ modifier: DeclModifierSyntax) -> Bool {
        modifier.name.tokenKind == .keyword(.private) && modifier.detail == nil
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
