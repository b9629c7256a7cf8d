internal import SwiftSyntax

extension SyntaxProtocol {
    /// The nearest node of a kind that this one is part of.
    func enclosing<Node: SyntaxProtocol>(_ kind: Node.Type) -> Node? {
        var node = parent
        while let current = node {
            if let found = current.as(kind) { return found }
            node = current.parent
        }
        return nil
    }
}
