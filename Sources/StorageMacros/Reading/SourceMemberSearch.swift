internal import SwiftSyntax

/// Searches `#if` blocks for a query source of the struct itself.
final class SourceMemberSearch: SyntaxVisitor {
    private(set) var found = false

    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
        let isSource = node.bindings.contains { binding in
            binding.typeAnnotation?.type.isSource ?? (binding.initializer?.value.suggestedSourceType != nil)
        }
        if isSource { found = true }
        return .skipChildren
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: SubscriptDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
}
