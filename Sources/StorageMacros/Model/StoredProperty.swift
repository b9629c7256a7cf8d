internal import SwiftParser
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
    let role: PropertyRole
    /// The value that a new entity has, where it is written so that rows from before the column can have it too.
    let fallback: String?
    /// Where the property's declaration begins.
    let declarationStart: AbsolutePosition

    /// The type without its question mark.
    var embeddedType: String { isOptional ? String(type.dropLast()) : type }
    /// The name as Swift code writes it, with its backticks.
    var identifier: String { name.trimmed.text }
    /// The name as the label of an argument, where the compiler warns of backticks that a keyword doesn't need there.
    var label: String { name.isNameWithoutBackticks ? column : identifier }
    /// The column: the name without backticks.
    var column: String { name.bareText }
    /// Whether the property is one column whose name can be a case. Of the names that a property can have, the compiler
    /// refuses one, with backticks too: a raw value has a type, which is a member of the enum.
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

    /// Literals and cases, which are the same whenever they are read; calls such as `UUID()` aren't.
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
            // `Date.now` is another one each time, and NaN can't be stored.
            let isConstant = !["now", "nan", "signalingNaN"].contains(member.declName.baseName.text)
            return isConstant ? value.trimmedDescription : nil
        default: return nil
        }
    }

    /// Lists and dictionaries of what is constant itself, too.
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
