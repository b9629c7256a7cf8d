internal import SwiftSyntax

/// One stored property, and so one column.
struct StoredProperty {
    /// The name token in the entity's declaration.
    let name: TokenSyntax
    /// The type as the record spells it.
    let type: String
    /// The type as an expression, followed by `.self`.
    let metatype: String
    let isOptional: Bool
    /// The property's access level, at most its entity's.
    let access: AccessLevel
    let role: PropertyRole
    /// The initial value of a new entity, if it is constant, so that older rows can have it too.
    let fallback: String?
    /// Whether a new entity has an initial value that isn't constant, so that older rows have none.
    let lacksFallback: Bool
    /// The beginning of the property's declaration.
    let declarationStart: AbsolutePosition

    /// The type without its question mark.
    var embeddedType: String { isOptional ? String(type.dropLast()) : type }
    /// The name in Swift code, with its backticks.
    var identifier: String { name.trimmed.text }
    /// The name as an argument label; the compiler warns of backticks that a keyword doesn't need there.
    var label: String { name.isNameWithoutBackticks ? column : identifier }
    /// The column: the name without backticks.
    var column: String { name.bareText }
    /// Whether the property is one column whose name can be a case of an enum. The compiler refuses only `RawValue`, even with
    /// backticks, because every enum with raw values has a type of this name.
    var canBeCase: Bool {
        if case .embedded = role { return false }
        return column != "RawValue"
    }

    init(
        name: TokenSyntax, type: TypeSyntax, access: AccessLevel, role: PropertyRole = .column,
        initializer: ExprSyntax? = nil, declarationStart: AbsolutePosition? = nil
    ) {
        self.name = name
        self.access = access
        self.role = role
        self.declarationStart = declarationStart ?? name.positionAfterSkippingLeadingTrivia
        let wrapped = type.wrappedInOptional.flatMap { Self.needsParentheses($0) ? nil : $0 }
        let spelled = wrapped.map { TypeSyntax(OptionalTypeSyntax(wrappedType: $0)) } ?? type.trimmed
        self.type = spelled.description
        metatype = Self.needsParentheses(spelled) ? "(\(spelled)).self" : "\(spelled).self"
        isOptional = spelled.is(OptionalTypeSyntax.self)
        let value = initializer.flatMap { $0.is(NilLiteralExprSyntax.self) ? nil : $0 }
        let constants = ConstantValue(ofType: (wrapped ?? spelled).description)
        switch role {
        case .column: fallback = value.flatMap { constants.emptyText($0) ?? constants.text($0) }
        case .json: fallback = value.flatMap { constants.emptyText($0) ?? constants.jsonText($0) }
        default: fallback = nil
        }
        let isKey = name.bareText == "id"
        lacksFallback = role.isStored && !isKey && !isOptional && value != nil && fallback == nil
    }

    private static func needsParentheses(_ type: TypeSyntax) -> Bool {
        switch type.kind {
        case .someOrAnyType, .compositionType, .functionType, .attributedType: true
        default: false
        }
    }
}
