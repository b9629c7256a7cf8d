internal import SwiftSyntax
internal import SwiftSyntaxBuilder

/// The text of the extension that lists the names of a struct's query sources.
///
/// What is known of a source is kept in the store under its name. A key path has none for a computed property, so the
/// macro writes down what stands in the source.
struct ProviderSource {
    let provider: ProviderDeclaration
    /// The struct as the file's top level names it.
    let type: TypeSyntax
    /// False where the struct itself declares the conformance.
    let addsConformance: Bool

    var text: String {
        let type = self.type.trimmedDescription
        let head = provider.availability.map { $0 + "\n" }.joined() + (provider.isNonisolated ? "nonisolated " : "")
        let conformance = addsConformance ? ": StorageSync.QuerySourceProvider" : ""
        let names = provider.sources.map { name in
            "\\\(type).\(name.trimmed.text): \(StringLiteralExprSyntax(content: name.bareText))"
        }
        return """
            \(head)extension \(type)\(conformance) {
                \(provider.access.prefix)static var querySourceNames: [Swift.PartialKeyPath<\(type)>: Swift.String] {
                    [\(names.joined(separator: ", "))]
                }
            }
            """
    }
}
