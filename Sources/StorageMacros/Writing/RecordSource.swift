internal import SwiftSyntax
internal import SwiftSyntaxBuilder

/// The text of an entity's record.
///
/// The record is `nonisolated`, and so is the registration, because rows are read and written off the main actor, also
/// in a module whose default is the main actor. Every name is written with its module, so that a type of the user's with
/// the same name doesn't get in between. The module `StorageKit` exports the modules named here, so that a file that
/// declares an entity needn't import them.
struct RecordSource {
    let entity: EntityDeclaration

    private var access: String { entity.access.prefix }
    private var properties: [StoredProperty] { entity.properties }
    private let date = "Foundation.Date"

    var text: String {
        let attributes = entity.availability.map { $0 + "\n" }.joined()
        let members = [
            naming, columns, storage, memberwiseInitializer, conversions, statementCoding, rowCoding,
        ]
        return """
            \(attributes)@_StorageRecord
            \(entity.statedAccess?.prefix ?? "")nonisolated struct \(entity.recordName) {
            \(indented(members.joined(separator: "\n\n"), by: 1))
            }
            """
    }
}

extension RecordSource {
    private var naming: String {
        let ownDate = "\n\n\(access)static var stampsUpdatedAt: Bool {\n    false\n}"
        return """
            \(access)typealias E = \(entity.name)

            \(access)static let databaseTableName = \(literal(entity.table))\(entity.declaresUpdatedAt ? ownDate : "")
            """
    }

    private var columns: String {
        var lines = properties.map { property in
            let key = property.column == "id" ? ", primaryKey: true" : ""
            return "StorageCore.ColumnSchema(\(literal(property.column)), \(property.metatype)\(key))"
        }
        if !entity.declaresUpdatedAt {
            lines.append("StorageCore.ColumnSchema(\(literal(EntityDeclaration.updatedAt)), \(date).self)")
        }
        return """
            \(access)static var schemaColumns: [StorageCore.ColumnSchema] {
                [
            \(indented(lines.joined(separator: ",\n"), by: 2))
                ]
            }
            """
    }

    private var storage: String {
        allProperties.map { "\($0.access.prefix)var \($0.identifier): \($0.type)" }.joined(separator: "\n")
    }

    /// The initialisers that read a row suppress the one that the compiler would write.
    private var memberwiseInitializer: String {
        let parameters = allProperties.map { "\($0.identifier): \($0.type)" }.joined(separator: ", ")
        let lowest = properties.map(\.access).min() ?? entity.access
        let assignments = allProperties.map { "self.\($0.identifier) = \($0.identifier)" }.joined(separator: "\n")
        return """
            \(lowest.prefix)init(\(parameters)) {
            \(indented(assignments, by: 1))
            }
            """
    }

    private var conversions: String {
        let entityArguments = properties.map { "\($0.label): self.\($0.identifier)" }.joined(separator: ", ")
        var recordArguments = properties.map { "\($0.label): entity.\($0.identifier)" }
        if !entity.declaresUpdatedAt { recordArguments.append("\(EntityDeclaration.updatedAt): now") }
        return """
            \(access)func asEntity() -> \(entity.name) {
                \(entity.name)(\(entityArguments))
            }

            \(access)static func from(_ entity: \(entity.name), now: \(date)) -> \(entity.recordName) {
                \(entity.recordName)(\(recordArguments.joined(separator: ", ")))
            }
            """
    }

    private var statementCoding: String {
        let writes = allProperties.enumerated().map { "try row.write(self.\($1.identifier), at: \($0 + 1))" }
        let reads = allProperties.enumerated().map { "self.\($1.identifier) = try row.read(\($1.metatype), at: \($0))" }
        let key = properties.first { $0.column == "id" }?.type ?? "E.Id"
        return """
            \(access)func write(to row: StorageLog.RowWriter) throws {
            \(indented(writes.joined(separator: "\n"), by: 1))
            }

            \(access)init(reading row: StorageLog.RowReader) throws {
            \(indented(reads.joined(separator: "\n"), by: 1))
            }

            \(access)static func key(of id: \(key)) -> StorageCore.StorageValue {
                StorageLog.RowKey.value(of: id)
            }
            """
    }

    private var rowCoding: String {
        let coding = "StorageLog.ColumnCoding"
        let reads = allProperties.map {
            "self.\($0.identifier) = try \(coding).decode(\($0.metatype), from: row, \(literal($0.column)))"
        }
        let writes = allProperties.map {
            "try \(coding).encode(self.\($0.identifier), to: &container, \(literal($0.column)))"
        }
        return """
            \(access)init(row: GRDB.Row) throws {
            \(indented(reads.joined(separator: "\n"), by: 1))
            }

            \(access)func encode(to container: inout GRDB.PersistenceContainer) throws {
            \(indented(writes.joined(separator: "\n"), by: 1))
            }
            """
    }

    /// The entity's properties and what the record adds to them.
    private var allProperties: [StoredProperty] {
        if entity.declaresUpdatedAt { return properties }
        let added = StoredProperty(
            name: .identifier(EntityDeclaration.updatedAt), type: TypeSyntax(stringLiteral: date), access: entity.access
        )
        return properties + [added]
    }

    private func literal(_ text: String) -> String { StringLiteralExprSyntax(content: text).description }

    private func indented(_ text: String, by levels: Int) -> String {
        let margin = String(repeating: "    ", count: levels)
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "" : margin + $0 }
            .joined(separator: "\n")
    }
}
