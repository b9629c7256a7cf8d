internal import SwiftSyntax

extension IfConfigDeclSyntax {
    /// Whether a branch has such a member of the type around it. The members of types inside of a branch aren't the type's.
    func hasMember(where isWanted: (DeclSyntax) -> Bool) -> Bool {
        clauses.contains { clause in
            guard case .decls(let members)? = clause.elements else { return false }
            return members.contains { member in
                member.decl.as(IfConfigDeclSyntax.self)?.hasMember(where: isWanted) ?? isWanted(member.decl)
            }
        }
    }
}
