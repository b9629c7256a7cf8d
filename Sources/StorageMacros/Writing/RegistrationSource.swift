internal import SwiftSyntax

/// The text of the extension that connects the entity to its record.
struct RegistrationSource {
    let entity: EntityDeclaration
    /// The entity's name at the file's top level.
    let type: TypeSyntax
    /// False if the struct itself declares the conformance.
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

    /// An extension of a nested type doesn't see that type's siblings, so the record's name is fully qualified like the entity's.
    private var record: String {
        guard let member = type.as(MemberTypeSyntax.self) else { return entity.recordName }
        return "\(member.baseType.trimmed).\(entity.recordName)"
    }
}
