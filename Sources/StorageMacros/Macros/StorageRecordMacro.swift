internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// Adds the conformance of a record that ``StorageEntityMacro`` generated.
///
/// The conformance can't be declared on the record itself: the compiler checks it there before it has registered the
/// entity, as soon as a column's type is declared inside the entity, and finds that the entity is none.
struct StorageRecordMacro: ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        let availability = declaration.attributes.availability.map { $0 + "\n" }.joined()
        let source = """
            \(availability)nonisolated extension \(type.trimmed): StorageEntities.StorageKitEntityRecord {
            }
            """
        return DeclSyntax(stringLiteral: source).as(ExtensionDeclSyntax.self).map { [$0] } ?? []
    }
}
