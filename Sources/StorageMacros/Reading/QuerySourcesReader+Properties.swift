internal import SwiftDiagnostics
internal import SwiftSyntax

extension QuerySourcesReader {
    /// The names of a declaration's sources; reports what prevents a key path from naming one.
    mutating func sources(of variable: VariableDeclSyntax, access: AccessLevel) -> [TokenSyntax] {
        var names: [TokenSyntax] = []
        for (binding, type) in Array(variable.bindings).withTypes {
            guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else { continue }
            guard let type else {
                checkMissingType(of: binding, name)
                continue
            }
            guard type.isSource else { continue }
            checkName(name)
            checkType(type, of: name)
            checkEffects(of: binding, name)
            names.append(name)
        }
        if !names.isEmpty { checkModifiers(of: variable, names[0].bareText, access: access) }
        return names
    }

    private mutating func checkMissingType(of binding: PatternBindingSyntax, _ name: TokenSyntax) {
        guard let suggestion = binding.initializer?.value.suggestedSourceType else { return }
        report(
            "source-type", at: binding.pattern,
            "Write the type of '\(name.bareText)': a macro sees the source, not the type that the compiler infers.",
            fixIts: [
                MacroFixIt.insert(
                    ": \(suggestion)", at: binding.pattern.endPositionBeforeTrailingTrivia, in: binding.pattern,
                    id: "add-type", "Add ': \(suggestion.contains("<#") ? "QuerySource<…>" : suggestion)'")
            ])
    }

    /// After a dot, these two names have a meaning of their own, even with backticks.
    private mutating func checkName(_ name: TokenSyntax) {
        guard ["Type", "Protocol"].contains(name.bareText) else { return }
        report(
            "source-name", at: name, "Rename '\(name.bareText)': no key path can name a property that is called so.",
            fixIts: [.rename(name)])
    }

    private mutating func checkType(_ type: TypeSyntax, of name: TokenSyntax) {
        guard let function = type.functionToSource else { return }
        let source = function.source.trimmedDescription
        if let effects = function.effectSpecifiers {
            report(
                "source-effects", at: effects,
                "Remove '\(effects.trimmedDescription)': '\(name.bareText)' says what is asked, and a remote fetch "
                    + "waits and fails by itself.",
                fixIts: [
                    MacroFixIt.remove(effects, id: "remove-effects", "Remove '\(effects.trimmedDescription)'")
                ])
        }
        let count = function.countOfParameters
        if count == 0 {
            report(
                "source-parameters", at: type,
                "Make '\(name.bareText)' a '\(source)': a source without a parameter needs no closure.",
                fixIts: [MacroFixIt.replaceNode(type, with: source, id: "to-source", "Change the type to '\(source)'")])
        } else if count > 1 || !function.returnClause.type.isQuerySource {
            report(
                "source-parameters", at: type,
                "Give '\(name.bareText)' one parameter, a struct of all that it takes: a query passes one value.",
                fixIts: [
                    MacroFixIt.replaceNode(
                        function, with: "(<#Parameter#>) -> \(source)", id: "to-one-parameter", "Take one parameter")
                ])
        }
    }

    private mutating func checkEffects(of binding: PatternBindingSyntax, _ name: TokenSyntax) {
        guard case .accessors(let accessors) = binding.accessorBlock?.accessors,
            let effects = accessors.lazy.compactMap(\.effectSpecifiers).first
        else { return }
        report(
            "source-effects", at: effects,
            "Remove '\(effects.trimmedDescription)': no key path can name '\(name.bareText)' with it, and a remote fetch "
                + "waits and fails by itself.",
            fixIts: [MacroFixIt.remove(effects, id: "remove-effects", "Remove '\(effects.trimmedDescription)'")])
    }

    private mutating func checkModifiers(of variable: VariableDeclSyntax, _ name: String, access: AccessLevel) {
        for modifier in variable.modifiers where modifier.detail == nil {
            let word = modifier.name.text
            let removal = MacroFixIt.remove(modifier, id: "remove-\(word)", "Remove '\(word)'")
            switch modifier.name.tokenKind {
            case .keyword(.static):
                report(
                    "source-static", at: modifier,
                    "Remove 'static': '\(name)' is asked of the value that is injected, with what it depends on.",
                    fixIts: [removal])
            case .keyword(.lazy):
                report(
                    "source-lazy", at: modifier,
                    "Remove 'lazy', or compute '\(name)': no key path can name a property that changes when it is read.",
                    fixIts: [removal])
            case .keyword(.private), .keyword(.fileprivate):
                // A source as visible as the struct itself isn't hidden.
                if modifier.name.tokenKind == .keyword(.fileprivate), access == .fileprivate { continue }
                report(
                    "source-private", at: modifier,
                    "Remove '\(word)', or make '\(name)' a private function if it only helps others: views name sources "
                        + "from other files.",
                    fixIts: [removal])
            default: break
            }
        }
    }
}
