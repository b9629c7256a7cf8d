internal import SwiftParser
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
    /// The initial value of a new entity, if it is written so that older rows can have it too.
    let fallback: String?
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
        fallback =
            switch role {
            case .column: initializer.flatMap(Self.fallback)
            case .json: initializer.flatMap(Self.jsonFallback)
            default: nil
            }
        let wrapped = type.wrappedInOptional.flatMap { Self.needsParentheses($0) ? nil : $0 }
        let spelled = wrapped.map { TypeSyntax(OptionalTypeSyntax(wrappedType: $0)) } ?? type.trimmed
        self.type = spelled.description
        metatype = Self.needsParentheses(spelled) ? "(\(spelled)).self" : "\(spelled).self"
        isOptional = spelled.is(OptionalTypeSyntax.self)
    }

    /// Literals and cases, which are constant; calls such as `UUID()` aren't.
    private static func fallback(_ value: ExprSyntax) -> String? {
        switch value.kind {
        case .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr: return value.trimmedDescription
        case .stringLiteralExpr:
            return value.as(StringLiteralExprSyntax.self)?.representedLiteralValue == nil
                ? nil : value.trimmedDescription
        case .prefixOperatorExpr:
            guard let negative = value.as(PrefixOperatorExprSyntax.self), negative.operator.text == "-",
                negative.expression.is(IntegerLiteralExprSyntax.self)
                    || negative.expression.is(FloatLiteralExprSyntax.self)
            else { return nil }
            return value.trimmedDescription
        case .memberAccessExpr:
            guard let member = value.as(MemberAccessExprSyntax.self), member.base == nil else { return nil }
            // `Date.now` changes with each read, and NaN can't be stored.
            let isConstant = !["now", "nan", "signalingNaN"].contains(member.declName.baseName.text)
            return isConstant ? value.trimmedDescription : nil
        default: return nil
        }
    }

    /// Also lists and dictionaries of constants.
    private static func jsonFallback(_ value: ExprSyntax) -> String? {
        if let list = value.as(ArrayExprSyntax.self) {
            return list.elements.allSatisfy { jsonFallback($0.expression) != nil } ? value.trimmedDescription : nil
        }
        if let dictionary = value.as(DictionaryExprSyntax.self) {
            guard case .elements(let elements) = dictionary.content else { return value.trimmedDescription }
            let isConstant = elements.allSatisfy { jsonFallback($0.key) != nil && jsonFallback($0.value) != nil }
            return isConstant ? value.trimmedDescription : nil
        }
        return fallback(value)
    }

    private static func needsParentheses(_ type: TypeSyntax) -> Bool {
        switch type.kind {
        case .someOrAnyType, .compositionType, .functionType, .attributedType: true
        default: false
        }
    }
}
