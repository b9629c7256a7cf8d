internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// Generates the record of an entity and registers the entity with it.
struct StorageEntityMacro {}

extension StorageEntityMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        var reader = EntityDeclarationReader(attribute: node, lexicalContext: context.lexicalContext)
        let entity = reader.read(declaration)
        for diagnostic in reader.diagnostics { context.diagnose(diagnostic) }
        guard let entity else { return [] }
        return [DeclSyntax(stringLiteral: RecordSource(entity: entity).text)]
    }
}

extension StorageEntityMacro: ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        // The peer role has reported the error; a second report, or an extension that names a missing record, would only hide the
        // cause.
        var reader = EntityDeclarationReader(attribute: node, lexicalContext: context.lexicalContext)
        guard let entity = reader.read(declaration) else { return [] }
        let source = RegistrationSource(entity: entity, type: TypeSyntax(type), addsConformance: !protocols.isEmpty)
        return DeclSyntax(stringLiteral: source.text).as(ExtensionDeclSyntax.self).map { [$0] } ?? []
    }
}
