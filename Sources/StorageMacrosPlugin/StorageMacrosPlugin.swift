internal import StorageMacros
internal import SwiftCompilerPlugin
internal import SwiftSyntax
internal import SwiftSyntaxMacros

/// The compiler plug-in: the macros of StorageMacros under the module's name by which the compiler asks for them.
///
/// The work is in a library of its own, because a test that depends on a plug-in is built for the host, and with it everything
/// that it tests is built twice.
@main
struct StorageMacrosPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        StorageEntityMacro.self, StorageRecordMacro.self, StorageRoleMacro.self, QuerySourcesMacro.self,
    ]
}

struct StorageEntityMacro: PeerMacro, ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        try StorageMacros.StorageEntityMacro.expansion(of: node, providingPeersOf: declaration, in: context)
    }

    static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        try StorageMacros.StorageEntityMacro.expansion(
            of: node, attachedTo: declaration, providingExtensionsOf: type, conformingTo: protocols, in: context)
    }
}

struct StorageRecordMacro: ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        try StorageMacros.StorageRecordMacro.expansion(
            of: node, attachedTo: declaration, providingExtensionsOf: type, conformingTo: protocols, in: context)
    }
}

struct StorageRoleMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        try StorageMacros.StorageRoleMacro.expansion(of: node, providingPeersOf: declaration, in: context)
    }
}

struct QuerySourcesMacro: ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        try StorageMacros.QuerySourcesMacro.expansion(
            of: node, attachedTo: declaration, providingExtensionsOf: type, conformingTo: protocols, in: context)
    }
}
