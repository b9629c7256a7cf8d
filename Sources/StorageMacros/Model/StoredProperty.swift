internal import SwiftSyntax

/// One stored property, and so one column.
struct StoredProperty {
    /// The name where the entity declares it.
    let name: TokenSyntax
    /// The type as the record spells it.
    let type: String
    /// The type where an expression names it, followed by `.self`.
    let metatype: String
    let isOptional: Bool
    /// How far the property can be seen: no further than its entity.
    let access: AccessLevel

    /// The name as Swift code writes it, with its backticks.
    var identifier: String { name.trimmed.text }
    /// The name as the label of an argument, where the compiler warns of backticks that a keyword doesn't need there.
    var label: String { name.isNameWithoutBackticks ? column : identifier }
    /// The column: the name without backticks.
    var column: String { name.bareText }

    init(name: TokenSyntax, type: TypeSyntax, access: AccessLevel) {
        self.name = name
        self.access = access
        // `T!` is an optional that only a declaration can spell that way.
        let plain = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self).map {
            TypeSyntax(OptionalTypeSyntax(wrappedType: $0.wrappedType.trimmed))
        }
        let spelled = (plain ?? type).trimmed
        self.type = spelled.description
        metatype = Self.needsParentheses(spelled) ? "(\(spelled)).self" : "\(spelled).self"
        isOptional = spelled.is(OptionalTypeSyntax.self)
    }

    private static func needsParentheses(_ type: TypeSyntax) -> Bool {
        switch type.kind {
        case .someOrAnyType, .compositionType, .functionType, .attributedType: true
        default: false
        }
    }
}
