internal import SwiftDiagnostics
internal import SwiftSyntax

/// A remedy that the editor can apply.
struct MacroFixIt: FixItMessage {
    let message: String
    let fixItID: MessageID

    init(_ id: String, _ message: String) {
        self.message = message
        fixItID = MessageID(domain: "StorageMacros", id: id)
    }

    /// A fix-it that replaces one token and keeps the space around it.
    static func replace(_ token: TokenSyntax, with text: String, id: String, _ message: String) -> FixIt {
        edit(token.trimmedRange, in: token, to: text, id: id, message)
    }

    /// A fix-it that replaces a node and keeps the space around it.
    static func replaceNode(_ node: some SyntaxProtocol, with text: String, id: String, _ message: String) -> FixIt {
        edit(node.trimmedRange, in: node, to: text, id: id, message)
    }

    /// A fix-it that removes a node with the space up to what follows it.
    static func remove(_ node: some SyntaxProtocol, id: String, _ message: String) -> FixIt {
        edit(node.positionAfterSkippingLeadingTrivia..<node.endPosition, in: node, to: "", id: id, message)
    }

    /// A fix-it that writes text at a position.
    static func insert(
        _ text: String, at position: AbsolutePosition, in node: some SyntaxProtocol, id: String, _ message: String
    ) -> FixIt {
        edit(position..<position, in: node, to: text, id: id, message)
    }

    /// A fix-it that replaces the text in a range.
    static func edit(
        _ range: Range<AbsolutePosition>, in node: some SyntaxProtocol, to text: String, id: String, _ message: String
    ) -> FixIt {
        FixIt(
            message: MacroFixIt(id, message),
            changes: [.replaceText(range: range, with: text, in: Syntax(node))])
    }
}
