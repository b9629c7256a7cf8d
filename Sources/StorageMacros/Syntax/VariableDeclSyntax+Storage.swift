internal import SwiftSyntax

extension VariableDeclSyntax {
    var isStatic: Bool {
        modifiers.contains { $0.name.tokenKind == .keyword(.static) || $0.name.tokenKind == .keyword(.class) }
    }
}

extension [PatternBindingSyntax] {
    /// Each with the type that is written for it, in their order.
    var withTypes: [(binding: PatternBindingSyntax, type: TypeSyntax?)] {
        // `var a, b: Int` declares both: a type holds for the names before it that have neither type nor value.
        var type: TypeSyntax?
        let typed = reversed().map { binding in
            if let own = binding.typeAnnotation?.type { type = own } else if binding.initializer != nil { type = nil }
            return (binding, type)
        }
        return typed.reversed()
    }
}

extension PatternBindingSyntax {
    /// Observers watch a stored property; every other accessor computes one.
    var isStored: Bool {
        switch accessorBlock?.accessors {
        case nil: true
        case .getter: false
        case .accessors(let accessors):
            accessors.allSatisfy {
                $0.accessorSpecifier.tokenKind == .keyword(.willSet)
                    || $0.accessorSpecifier.tokenKind == .keyword(.didSet)
            }
        }
    }
}
