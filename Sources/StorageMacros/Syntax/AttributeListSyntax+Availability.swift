internal import SwiftSyntax

extension AttributeListSyntax {
    /// The `@available` attributes: what names a declaration can't be available where that declaration isn't.
    var availability: [String] {
        compactMap { element in
            guard let attribute = element.as(AttributeSyntax.self),
                attribute.attributeName.trimmedDescription == "available"
            else { return nil }
            return attribute.trimmedDescription
        }
    }
}
