internal import SwiftSyntax

/// Qualifies types of the entity's properties so that they mean the same in the record.
///
/// The record is declared beside the entity, where `Self` is another type, and types declared inside the entity need its name as
/// a prefix.
final class TypeQualifier: SyntaxRewriter {
    private let entity: String
    private let nested: Set<String>

    init(_ structure: StructDeclSyntax) {
        entity = structure.name.trimmed.text
        nested = Set(
            structure.memberBlock.members.compactMap { member in
                member.decl.asProtocol((any NamedDeclSyntax).self)?.name.bareText
            })
        super.init(viewMode: .sourceAccurate)
    }

    func qualified(_ type: TypeSyntax) -> TypeSyntax {
        rewrite(type.trimmed, detach: true).as(TypeSyntax.self) ?? type.trimmed
    }

    override func visit(_ node: IdentifierTypeSyntax) -> TypeSyntax {
        let visited = super.visit(node)
        guard let name = visited.as(IdentifierTypeSyntax.self) else { return visited }
        if name.name.tokenKind == .keyword(.Self) {
            return TypeSyntax(name.with(\.name.tokenKind, .identifier(entity)))
        }
        guard nested.contains(name.name.bareText) else { return visited }
        return TypeSyntax(
            MemberTypeSyntax(
                leadingTrivia: name.leadingTrivia,
                baseType: IdentifierTypeSyntax(name: .identifier(entity)),
                name: name.name.with(\.leadingTrivia, []),
                genericArgumentClause: name.genericArgumentClause))
    }
}
