internal import SwiftSyntax

/// The text of the extension that gives the entity its record.
struct RegistrationSource {
    let entity: EntityDeclaration
    /// The entity as the file's top level names it.
    let type: TypeSyntax
    /// False where the struct itself declares the conformance.
    let addsConformance: Bool

    var text: String {
        let conformance = addsConformance ? ": StorageEntities.RegisteredEntity" : ""
        let attributes = entity.availability.map { $0 + "\n" }.joined()
        return """
            \(attributes)nonisolated extension \(type.trimmed)\(conformance) {
                \(entity.access.prefix)typealias Record = \(record)
            }
            """
    }

    /// An extension of a nested type doesn't see that type's siblings, so the record's name is as long as the entity's.
    private var record: String {
        guard let member = type.as(MemberTypeSyntax.self) else { return entity.recordName }
        return "\(member.baseType.trimmed).\(entity.recordName)"
    }
}
