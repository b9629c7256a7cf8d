internal import SwiftSyntax

extension SyntaxProtocol {
    /// The nearest enclosing node of a kind.
    func enclosing<Node: SyntaxProtocol>(_ kind: Node.Type) -> Node? {
        var node = parent
        while let current = node {
            if let found = current.as(kind) { return found }
            node = current.parent
        }
        return nil
    }
}
