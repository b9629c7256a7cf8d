internal import SwiftSyntax

/// A validated declaration of a struct of query sources.
struct ProviderDeclaration {
    let access: AccessLevel
    /// Whether the struct is declared `nonisolated`, which its extensions must repeat if the module's default isolation is an
    /// actor.
    let isNonisolated: Bool
    /// The `@available` attributes, which the extension must have too.
    let availability: [String]
    /// The names of its sources in the order of declaration.
    let sources: [TokenSyntax]
}
