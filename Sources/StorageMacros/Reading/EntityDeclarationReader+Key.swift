internal import SwiftDiagnostics
internal import SwiftSyntax

extension EntityDeclarationReader {
    /// Reports an `id` that is missing, or that can't be the key.
    mutating func checkKey(_ properties: [StoredProperty], of structure: StructDeclSyntax, access: AccessLevel) {
        guard let key = properties.first(where: { $0.column == "id" }) else {
            reportMissingKey(of: structure)
            return
        }
        if key.access < access, let variable = key.name.enclosing(VariableDeclSyntax.self) {
            report(
                "hidden-id", at: key.name,
                "Make 'id' \(access) like '\(structure.name.bareText)': code that can see an entity must see its key.",
                fixIts: [opening(variable, to: access)])
        }
        guard key.isOptional, let mark = optionalMark(of: key.name) else { return }
        report(
            "optional-id", at: mark,
            "Remove the '\(mark.text)': every row is stored under its 'id', so it always has one.",
            fixIts: [MacroFixIt.replace(mark, with: "", id: "remove-optional", "Remove '\(mark.text)'")])
    }

    private mutating func reportMissingKey(of structure: StructDeclSyntax) {
        let name = structure.name.bareText
        if let other = otherKey(in: structure) {
            report(
                "computed-id", at: other,
                "Store 'id' in '\(name)': rows are found by the column 'id', and only a stored property has one.")
            return
        }
        report(
            "missing-id", at: structure.name,
            "Add a stored property 'id' to '\(name)': every row is stored under it.",
            fixIts: [.add("var id: String", to: structure, id: "add-id", "Add 'var id: String'")])
    }

    /// An existing `id` that isn't a column: computed or static.
    private func otherKey(in structure: StructDeclSyntax) -> PatternSyntax? {
        let bindings = structure.memberBlock.members.compactMap { $0.decl.as(VariableDeclSyntax.self) }
            .flatMap(\.bindings)
        return bindings.map(\.pattern).first { $0.as(IdentifierPatternSyntax.self)?.identifier.bareText == "id" }
    }

    private func optionalMark(of name: TokenSyntax) -> TokenSyntax? {
        name.enclosing(PatternBindingSyntax.self)?.typeAnnotation?.type.lastToken(viewMode: .sourceAccurate)
    }

    private func opening(_ variable: VariableDeclSyntax, to access: AccessLevel) -> FixIt {
        if let stated = variable.modifiers.first(where: { AccessLevel($0) != nil }) {
            return MacroFixIt.replace(
                stated.name, with: access.rawValue, id: "to-access", "Change '\(stated.name.text)' to '\(access)'")
        }
        return MacroFixIt.insert(
            "\(access) ", at: variable.bindingSpecifier.positionAfterSkippingLeadingTrivia,
            in: variable.bindingSpecifier, id: "add-access", "Add '\(access)'")
    }
}
