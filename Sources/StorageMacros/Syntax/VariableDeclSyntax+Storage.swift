internal import SwiftSyntax

extension VariableDeclSyntax {
    var isStatic: Bool {
        modifiers.contains { $0.name.tokenKind == .keyword(.static) || $0.name.tokenKind == .keyword(.class) }
    }
}

extension [PatternBindingSyntax] {
    /// The bindings in order, each with its written type.
    var withTypes: [(binding: PatternBindingSyntax, type: TypeSyntax?)] {
        // `var a, b: Int` declares both: a type applies to the preceding names that have neither type nor value.
        var type: TypeSyntax?
        let typed = reversed().map { binding in
            if let own = binding.typeAnnotation?.type { type = own } else if binding.initializer != nil { type = nil }
            return (binding, type)
        }
        return typed.reversed()
    }
}

extension PatternBindingSyntax {
    /// Whether the property is stored: it may have observers; every other accessor computes it.
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
