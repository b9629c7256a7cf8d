internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxMacros

/// Marks a property for ``StorageEntityMacro``, which does the work. By itself it only reports where it has no effect.
struct StorageRoleMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let name = node.bareName
        func report(_ id: String, _ message: String) {
            let fixIt = MacroFixIt.remove(node, id: "remove-role", "Remove '@\(name)'")
            context.diagnose(Diagnostic(node: node, message: MacroDiagnostic(id, message), fixIts: [fixIt]))
        }
        guard let variable = declaration.as(VariableDeclSyntax.self) else {
            report("role-not-a-property", "Remove '@\(name)': it marks a stored property of an entity.")
            return []
        }
        guard !variable.isStatic, variable.bindings.contains(where: \.isStored) else {
            report("role-not-stored", "Remove '@\(name)': only stored properties that aren't static are part of a row.")
            return []
        }
        let isInEntity =
            context.lexicalContext.first?.as(StructDeclSyntax.self)?.attributes.contains {
                $0.as(AttributeSyntax.self)?.bareName == "StorageEntity"
            } ?? false
        if !isInEntity {
            report(
                "role-outside", "Mark the struct around it with '@StorageEntity': '@\(name)' has no effect elsewhere.")
        }
        return []
    }
}
