internal import SwiftDiagnostics
internal import SwiftSyntax

/// Reads a declaration that a macro is attached to, and reports what prevents the expansion.
///
/// It continues after the first error where possible, so that one build reports all of them.
protocol StructReader {
    var attribute: AttributeSyntax { get }
    /// The nodes that enclose the declaration, innermost first.
    var lexicalContext: [Syntax] { get }
    var diagnostics: [Diagnostic] { get set }
}

extension StructReader {
    /// - Parameter fixIts: Fix-its for an editor; if there are none, removing the attribute is offered.
    mutating func report(
        _ id: String, at node: some SyntaxProtocol, _ message: String, fixIts: [FixIt] = []
    ) {
        let remedies =
            fixIts.isEmpty
            ? [MacroFixIt.remove(attribute, id: "remove-attribute", "Remove '@\(attribute.bareName)'")] : fixIts
        diagnostics.append(Diagnostic(node: node, message: MacroDiagnostic(id, message), fixIts: remedies))
    }

    /// The struct that the macro is attached to.
    ///
    /// - Parameters:
    ///   - because: Why it must be a struct.
    ///   - insteadOf: What to do with an enum of this name.
    mutating func structure(
        _ declaration: some DeclSyntaxProtocol, because: String, insteadOf remedyOfEnum: (String) -> String
    ) -> StructDeclSyntax? {
        if let structure = declaration.as(StructDeclSyntax.self) { return structure }
        if let type = declaration.as(ClassDeclSyntax.self) {
            report(
                "not-a-struct", at: type.classKeyword, "Make '\(type.name.bareText)' a struct: \(because).",
                fixIts: [.toStruct(type.classKeyword, type.modifiers)])
        } else if let type = declaration.as(EnumDeclSyntax.self) {
            report("not-a-struct", at: type.enumKeyword, "\(remedyOfEnum(type.name.bareText)): \(because).")
        } else if let type = declaration.as(ActorDeclSyntax.self) {
            report(
                "not-a-struct", at: type.actorKeyword, "Make '\(type.name.bareText)' a struct: \(because).",
                fixIts: [.toStruct(type.actorKeyword, type.modifiers)])
        } else {
            report("not-a-struct", at: attribute.attributeName, "Attach it to a struct: \(because).")
        }
        return nil
    }

    /// The struct's access level. Inside an extension with an access level, that level is the default.
    func access(of structure: StructDeclSyntax) -> AccessLevel {
        if let own = AccessLevel(structure.modifiers) { return own }
        let enclosing = lexicalContext.first?.as(ExtensionDeclSyntax.self)
        return enclosing.flatMap { AccessLevel($0.modifiers) } ?? .internal
    }

    /// Reports a struct that the macro's extension can't name: the extension is at the top of the file, where private members
    /// of a type aren't visible.
    ///
    /// - Parameter purpose: What the extension does with the struct.
    mutating func checkReach(of structure: StructDeclSyntax, _ id: String, purpose: String) {
        if lexicalContext.isEmpty { return }
        let name = structure.name.bareText
        if let modifier = structure.modifiers.first(where: \.isPrivate) {
            report(
                id, at: modifier,
                "Make '\(name)' fileprivate: what is private to the type around it can't be \(purpose).",
                fixIts: [.toFileprivate(modifier.name)])
            return
        }
        let hidden = lexicalContext.dropLast().contains { parent in
            parent.asProtocol((any WithModifiersSyntax).self)?.modifiers.contains(where: \.isPrivate) ?? false
        }
        if hidden {
            report(
                id, at: structure.name,
                "Make the private type around '\(name)' fileprivate: what is inside it can't be \(purpose).")
        }
    }
}

extension DeclModifierSyntax {
    /// Whether it hides the declaration from the rest of the file; `private(set)` doesn't.
    var isPrivate: Bool { name.tokenKind == .keyword(.private) && detail == nil }
}
