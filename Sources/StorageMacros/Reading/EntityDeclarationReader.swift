internal import SwiftDiagnostics
internal import SwiftParser
internal import SwiftSyntax

/// Reads a declaration and reports what prevents it from being an entity.
struct EntityDeclarationReader: StructReader {
    let attribute: AttributeSyntax
    let lexicalContext: [Syntax]
    var diagnostics: [Diagnostic] = []

    init(attribute: AttributeSyntax, lexicalContext: [Syntax]) {
        self.attribute = attribute
        self.lexicalContext = lexicalContext
    }

    /// - Returns: nil if ``diagnostics`` holds a reason.
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

    /// With the suffix, a keyword is an ordinary name, but a name with spaces still needs its backticks.
    private func recordName(of name: TokenSyntax) -> String {
        let text = name.bareText + "Record"
        return text.isValidSwiftIdentifier(for: .variableName) ? text : "`\(text)`"
    }
}
