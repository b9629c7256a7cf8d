internal import SwiftDiagnostics
internal import SwiftSyntax

/// Reads a struct of query sources and reports those that can't be named.
///
/// The struct may be generic, or inside a generic type. The compiler itself refuses a local one.
struct QuerySourcesReader: StructReader {
    let attribute: AttributeSyntax
    let lexicalContext: [Syntax]
    var diagnostics: [Diagnostic] = []

    init(attribute: AttributeSyntax, lexicalContext: [Syntax]) {
        self.attribute = attribute
        self.lexicalContext = lexicalContext
    }

    /// - Returns: nil if ``diagnostics`` holds a reason.
    mutating func read(_ declaration: some DeclSyntaxProtocol) -> ProviderDeclaration? {
        guard let structure = structure(declaration) else { return nil }
        checkReach(of: structure, "private-sources", purpose: "extended")
        let access = access(of: structure)
        let sources = sources(of: structure, access: access)
        if diagnostics.isEmpty, sources.isEmpty { reportMissing(in: structure) }
        guard diagnostics.isEmpty else { return nil }
        return ProviderDeclaration(
            access: access,
            isNonisolated: structure.modifiers.contains { $0.name.tokenKind == .keyword(.nonisolated) },
            availability: structure.attributes.availability,
            sources: sources)
    }

    private mutating func structure(_ declaration: some DeclSyntaxProtocol) -> StructDeclSyntax? {
        let because = "a view finds its sources in a value that was injected, so @QuerySources works on structs only"
        // An enum without cases holds only static members, which a struct can hold as well.
        if let type = declaration.as(EnumDeclSyntax.self), !type.memberBlock.members.contains(where: \.isCase) {
            report(
                "not-a-struct", at: type.enumKeyword, "Make '\(type.name.bareText)' a struct: \(because).",
                fixIts: [.toStruct(type.enumKeyword, type.modifiers)])
            return nil
        }
        return structure(declaration, because: because) { "Move the sources of '\($0)' to a struct" }
    }

    private mutating func sources(of structure: StructDeclSyntax, access: AccessLevel) -> [TokenSyntax] {
        var names: [TokenSyntax] = []
        for member in structure.memberBlock.members {
            if let conditional = member.decl.as(IfConfigDeclSyntax.self) {
                checkConditional(conditional)
            } else if let function = member.decl.as(FunctionDeclSyntax.self) {
                checkFunction(function)
            } else if let variable = member.decl.as(VariableDeclSyntax.self) {
                names += sources(of: variable, access: access)
            }
        }
        return names
    }

    private mutating func reportMissing(in structure: StructDeclSyntax) {
        report(
            "sources-missing", at: structure.name,
            "Add a property of the type 'QuerySource<…>' to '\(structure.name.bareText)': it has none, and a macro sees "
                + "neither extensions nor what other names of the type stand for.",
            fixIts: [
                .add(
                    "var <#name#>: QuerySource<<#Entity#>> { QuerySource(<#Entity#>.all()) }", to: structure,
                    id: "add-source", "Add a source")
            ])
    }

    /// Reports `#if` around sources: the macro doesn't know whether a branch is compiled.
    private mutating func checkConditional(_ conditional: IfConfigDeclSyntax) {
        let isSource = { (member: DeclSyntax) in
            member.as(VariableDeclSyntax.self)?.bindings.contains { binding in
                binding.typeAnnotation?.type.isSource ?? (binding.initializer?.value.suggestedSourceType != nil)
            } ?? false
        }
        guard conditional.hasMember(where: isSource), let clause = conditional.clauses.first else { return }
        report(
            "source-conditional", at: clause.poundKeyword,
            "Move the sources out of '#if', which may be used inside them: a struct has the same ones in every build.")
    }
}

extension MemberBlockItemSyntax {
    fileprivate var isCase: Bool { decl.is(EnumCaseDeclSyntax.self) }
}
