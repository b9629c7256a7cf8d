internal import SwiftSyntax

/// Searches for unqualified names of types.
final class TypeNameSearch: SyntaxVisitor {
    private let names: Set<String>
    private(set) var found: TokenSyntax?

    init(of names: Set<String>) {
        self.names = names
        super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
        if found == nil, names.contains(node.name.bareText) { found = node.name }
        return .visitChildren
    }
}
