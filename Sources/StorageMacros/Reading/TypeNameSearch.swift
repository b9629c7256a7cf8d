internal import SwiftSyntax

/// Looks for types that are named without anything before the name.
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
