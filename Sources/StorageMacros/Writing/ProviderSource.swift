internal import SwiftSyntax
internal import SwiftSyntaxBuilder

/// The text of the extension that lists the names of a struct's query sources.
///
/// The store keeps what is known of a source under its name. A key path doesn't provide the name of a computed property, so the
/// macro generates the names from the source code.
struct ProviderSource {
    let provider: ProviderDeclaration
    /// The struct's name at the file's top level.
    let type: TypeSyntax
    /// False if the struct itself declares the conformance.
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
