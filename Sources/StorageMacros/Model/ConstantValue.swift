internal import SwiftParser
internal import SwiftSyntax

/// Finds out whether the initial value of a property is constant: then older rows can have it too. Calls such as `UUID()`
/// aren't, and names of other declarations may not be, nor are they always visible beside the entity, where the record is.
struct ConstantValue {
    private let type: String

    /// - Parameter type: The property's type as the record spells it, without its question mark.
    init(ofType type: String) { self.type = type }

    /// The property's value as the record spells it, if it is `.init()` and the type is known to have an empty value; nil for
    /// another one. It isn't a part of another expression, which would have a type of its own.
    func emptyText(_ value: ExprSyntax) -> String? {
        guard let call = value.as(FunctionCallExprSyntax.self), call.hasNoArguments,
            let member = call.initializer, member.base == nil
        else { return nil }
        let isCollection = type.hasPrefix("[") || Self.collections.contains { type.hasPrefix("\($0)<") }
        return isCollection || Self.empty.contains(type) ? "\(type)()" : nil
    }

    /// The value as the record spells it; nil if it isn't constant.
    func text(_ value: ExprSyntax) -> String? {
        switch value.kind {
        case .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr: return value.trimmedDescription
        case .stringLiteralExpr:
            return value.as(StringLiteralExprSyntax.self)?.representedLiteralValue == nil
                ? nil : value.trimmedDescription
        case .prefixOperatorExpr:
            guard let prefix = value.as(PrefixOperatorExprSyntax.self), Self.prefixes.contains(prefix.operator.text)
            else { return nil }
            return text(prefix.expression).map { prefix.operator.text + $0 }
        case .infixOperatorExpr:
            guard let infix = value.as(InfixOperatorExprSyntax.self), let symbol = infixText(infix.operator),
                let left = text(infix.leftOperand), let right = text(infix.rightOperand)
            else { return nil }
            return "\(left) \(symbol) \(right)"
        case .sequenceExpr:
            let parts = value.as(SequenceExprSyntax.self)?.elements.map { infixText($0) ?? text($0) } ?? []
            return parts.contains(nil) ? nil : parts.compactMap(\.self).joined(separator: " ")
        case .tupleExpr:
            guard let elements = value.as(TupleExprSyntax.self)?.elements, elements.count == 1 else { return nil }
            return elements.first.flatMap { text($0.expression) }.map { "(\($0))" }
        case .memberAccessExpr: return value.as(MemberAccessExprSyntax.self).flatMap(memberText)
        case .functionCallExpr: return value.as(FunctionCallExprSyntax.self).flatMap(numberText)
        default: return nil
        }
    }

    /// Also lists and dictionaries of constants.
    func jsonText(_ value: ExprSyntax) -> String? {
        if let list = value.as(ArrayExprSyntax.self) { return listText(list.elements.map { partText($0.expression) }) }
        if let dictionary = value.as(DictionaryExprSyntax.self) {
            guard case .elements(let elements) = dictionary.content else { return "[:]" }
            return listText(
                elements.map { element in
                    guard let key = partText(element.key), let value = partText(element.value) else { return nil }
                    return "\(key): \(value)"
                })
        }
        if let call = value.as(FunctionCallExprSyntax.self), call.hasNoArguments {
            // `[Int]()` is a list of one element as an expression, but an empty list.
            let called = call.constructed
            if called.is(ArrayExprSyntax.self) { return "[]" }
            if called.is(DictionaryExprSyntax.self) { return "[:]" }
            let base = (called.as(GenericSpecializationExprSyntax.self)?.expression ?? called).trimmedDescription
            if ["Array", "Set"].contains(base) { return "[]" }
            if base == "Dictionary" { return "[:]" }
        }
        return text(value)
    }

    private func partText(_ value: ExprSyntax) -> String? {
        value.is(NilLiteralExprSyntax.self) ? "nil" : jsonText(value)
    }

    private func listText(_ parts: [String?]) -> String? {
        parts.contains(nil) ? nil : "[\(parts.compactMap(\.self).joined(separator: ", "))]"
    }

    private func infixText(_ symbol: ExprSyntax) -> String? {
        symbol.as(BinaryOperatorExprSyntax.self)
            .flatMap { Self.infixes.contains($0.operator.text) ? $0.operator.text : nil }
    }

    /// A member of the property's type, or one of Swift's own members of a type of numbers. Its declaration isn't known here: a static
    /// property that is computed passes for a case.
    private func memberText(_ member: MemberAccessExprSyntax) -> String? {
        let name = member.declName.trimmedDescription
        // `Date.now` changes with each read, and NaN can't be stored.
        if ["now", "nan", "signalingNaN"].contains(member.declName.baseName.text) { return nil }
        guard let base = member.base?.trimmedDescription else { return ".\(name)" }
        // A type inside the entity has the entity's name before its own in the record.
        if base == type || type.hasSuffix(".\(base)") { return "\(type).\(name)" }
        return Self.numbers.contains(base) && Self.members.contains(name) ? "\(base).\(name)" : nil
    }

    /// A number converted to a type of numbers, `Int(5)`, or an empty value, `Data()`.
    private func numberText(_ call: FunctionCallExprSyntax) -> String? {
        let name = call.constructed.trimmedDescription
        if call.hasNoArguments, Self.empty.contains(name) { return "\(name)()" }
        guard Self.numbers.contains(name), call.arguments.count == 1, call.trailingClosure == nil,
            let argument = call.arguments.first, argument.label == nil
        else { return nil }
        return text(argument.expression).map { "\(name)(\($0))" }
    }

    private static let prefixes: Set = ["-", "+", "!", "~"]
    private static let infixes: Set = [
        "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "&+", "&-", "&*", "&&", "||",
    ]
    private static let members: Set = [
        "min", "max", "zero", "pi", "infinity", "greatestFiniteMagnitude", "leastNormalMagnitude",
        "leastNonzeroMagnitude",
    ]
    private static let collections = ["Array", "Set", "Dictionary"]
    private static let empty = numbers.union(["Bool", "String", "Data", "Foundation.Data"])
    private static let numbers: Set = [
        "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Double", "Float",
        "TimeInterval", "CGFloat",
    ]
}

extension FunctionCallExprSyntax {
    /// The initializer that is called by its name, with the type before it, as in `Int.init(5)`.
    fileprivate var initializer: MemberAccessExprSyntax? {
        let member = calledExpression.as(MemberAccessExprSyntax.self)
        return member?.declName.baseName.tokenKind == .keyword(.`init`) ? member : nil
    }

    /// What is called, without `init` after the name of a type.
    fileprivate var constructed: ExprSyntax { initializer?.base ?? calledExpression }

    fileprivate var hasNoArguments: Bool {
        arguments.isEmpty && trailingClosure == nil && additionalTrailingClosures.isEmpty
    }
}
