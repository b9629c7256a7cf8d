internal import SwiftSyntax

/// What the macro knows of a struct of query sources once nothing in it stands in the way.
struct ProviderDeclaration {
    let access: AccessLevel
    /// Whether the struct says `nonisolated`, which its extensions must repeat where the module's default is an actor.
    let isNonisolated: Bool
    /// The `@available` attributes, which must stand on the extension too.
    let availability: [String]
    /// The names of its sources where it declares them, in that order.
    let sources: [TokenSyntax]
}
