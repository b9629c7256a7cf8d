internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// Makes a struct a provider of the query sources that it declares, and gives each a name.
struct QuerySourcesMacro: ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        var reader = QuerySourcesReader(attribute: node, lexicalContext: context.lexicalContext)
        let provider = reader.read(declaration)
        for diagnostic in reader.diagnostics { context.diagnose(diagnostic) }
        guard let provider else { return [] }
        let source = ProviderSource(provider: provider, type: TypeSyntax(type), addsConformance: !protocols.isEmpty)
        return DeclSyntax(stringLiteral: source.text).as(ExtensionDeclSyntax.self).map { [$0] } ?? []
    }
}
