internal import SwiftDiagnostics
internal import SwiftParser
internal import SwiftSyntax

/// Reads a declaration and says what keeps it from being an entity.
///
/// It goes on after the first fault where it can, so that one build reports all of them.
struct EntityReader {
    let attribute: AttributeSyntax
    /// What encloses the declaration, innermost first.
    let lexicalContext: [Syntax]
    private(set) var diagnostics: [Diagnostic] = []

    init(attribute: AttributeSyntax, lexicalContext: [Syntax]) {
        self.attribute = attribute
        self.lexicalContext = lexicalContext
    }

    /// - Returns: nil where ``diagnostics`` holds a reason.
    mutating func read(_ declaration: some DeclSyntaxProtocol) -> EntityDeclaration? {
        guard let structure = structure(declaration) else { return nil }
        checkSurroundings(of: structure)
        let table = table(of: structure)
        let access = access(of: structure)
        let properties = storedProperties(of: structure, access: access)
        if diagnostics.isEmpty { checkColumns(properties.filter(\.role.isStored)) }
        if diagnostics.isEmpty { checkRoles(properties) }
        if diagnostics.isEmpty { checkKey(properties, of: structure, access: access) }
        if diagnostics.isEmpty { checkInitializers(of: structure, properties) }
        guard diagnostics.isEmpty, let table else { return nil }
        let name = structure.name.trimmed.text
        return EntityDeclaration(
            name: name,
            recordName: recordName(of: structure.name),
            access: access,
            statedAccess: AccessLevel(structure.modifiers),
            availability: structure.attributes.availability,
            table: table,
            properties: properties)
    }

    /// - Parameter fixIts: Remedies that an editor can apply; where there is none, the attribute can always go.
    mutating func report(
        _ id: String, at node: some SyntaxProtocol, _ message: String, fixIts: [FixIt] = []
    ) {
        let remedies =
            fixIts.isEmpty
            ? [MacroFixIt.remove(attribute, id: "remove-entity", "Remove '@\(attribute.bareName)'")] : fixIts
        diagnostics.append(Diagnostic(node: node, message: MacroDiagnostic(id, message), fixIts: remedies))
    }

    /// Inside an extension with an access level, that level is the default.
    private func access(of structure: StructDeclSyntax) -> AccessLevel {
        if let own = AccessLevel(structure.modifiers) { return own }
        let enclosing = lexicalContext.first?.as(ExtensionDeclSyntax.self)
        return enclosing.flatMap { AccessLevel($0.modifiers) } ?? .internal
    }

    /// A name that was a keyword is none with the suffix, but one with spaces still needs its backticks.
    private func recordName(of name: TokenSyntax) -> String {
        let text = name.bareText + "Record"
        return text.isValidSwiftIdentifier(for: .variableName) ? text : "`\(text)`"
    }
}
