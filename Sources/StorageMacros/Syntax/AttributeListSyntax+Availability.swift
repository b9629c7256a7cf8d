internal import SwiftSyntax

extension AttributeListSyntax {
    /// The `@available` attributes: code that names a declaration must not be available where the declaration isn't.
    var availability: [String] {
        compactMap { element in
            guard let attribute = element.as(AttributeSyntax.self),
                attribute.attributeName.trimmedDescription == "available"
            else { return nil }
            return attribute.trimmedDescription
        }
    }
}
