internal import SwiftSyntax
internal import SwiftSyntaxBuilder

/// The text of an entity's record.
///
/// The record and the registration are `nonisolated`, because rows are read and written off the main actor, even in a module
/// whose default isolation is the main actor. Every name is qualified with its module, so that a user's type with the same name
/// doesn't interfere. The module `StorageKit` exports the modules named here, so that a file that declares an entity needn't
/// import them.
struct RecordSource {
    let entity: EntityDeclaration

    private var access: String { entity.access.prefix }
    /// The properties of the record: those of the entity that are stored.
    private var properties: [StoredProperty] { entity.properties.filter(\.role.isStored) }
    private var hasEmbedded: Bool {
        properties.contains { if case .embedded = $0.role { true } else { false } }
    }
    private let date = "Foundation.Date"

    var text: String {
        let attributes = entity.availability.map { $0 + "\n" }.joined()
        let members = [
            naming, columns, columnNames, columnCases, relationships, storage, memberwiseInitializer, conversions,
            statementCoding, reading, rowCoding,
        ]
        return """
            \(attributes)@_StorageRecord
            \(entity.statedAccess?.prefix ?? "")nonisolated struct \(entity.recordName) {
            \(indented(members.filter { !$0.isEmpty }.joined(separator: "\n\n"), by: 1))
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
        var groups: [[String]] = [[]]
        var embedded: [String] = []
        for property in properties {
            if case .embedded(let prefix) = property.role {
                let value = property.lacksFallback ? ", hasInitialValue: true" : ""
                embedded.append(
                    "StorageLog._StorageEmbedding.columns(\(property.metatype), prefix: \(literal(prefix))\(value))")
                groups.append([])
            } else {
                groups[groups.count - 1].append(column(property))
            }
        }
        if !entity.declaresUpdatedAt {
            groups[groups.count - 1].append(
                "StorageCore.ColumnSchema(\(literal(EntityDeclaration.updatedAt)), \(date).self)")
        }
        var text = ""
        for (index, group) in groups.enumerated() {
            if index > 0 { text += "\ncolumns += \(embedded[index - 1])" }
            if group.isEmpty { continue }
            let list = "[\n\(indented(group.joined(separator: ",\n"), by: 1))\n]"
            text += index == 0 ? list : "\ncolumns += \(list)"
        }
        if hasEmbedded {
            text = "var columns: [StorageCore.ColumnSchema] = \(groups[0].isEmpty ? "[]" + text : text)\nreturn columns"
        }
        return """
            \(access)static var schemaColumns: [StorageCore.ColumnSchema] {
            \(indented(text, by: 1))
            }
            """
    }

    private func column(_ property: StoredProperty) -> String {
        let fallback = property.fallback.map { ", default: \($0)" } ?? ""
        let lack = property.lacksFallback ? ".withoutNeutralValue()" : ""
        if property.role == .json {
            return "StorageLog._StorageJSON.column(\(literal(property.column)), \(property.metatype)\(fallback))\(lack)"
        }
        let key = property.column == "id" ? ", primaryKey: true" : ""
        var text =
            "StorageCore.ColumnSchema(\(literal(property.column)), \(property.metatype)\(key)\(fallback))\(lack)"
        for relation in entity.properties {
            guard case .belongsTo(property.column, let parent, let rule?) = relation.role else { continue }
            text += ".referencing(\(parent).Record.databaseTableName, onDelete: \(rule))"
        }
        return text
    }

    /// The columns by name, for the conditions of queries.
    private var columnNames: String {
        let members = allProperties.map { property in
            let name = literal(property.column)
            let value =
                switch property.role {
                case .embedded(let prefix):
                    "StorageLog._\(property.isOptional ? "Optional" : "")EmbeddedColumns<\(property.embeddedType)>(prefix: \(literal(prefix)))"
                case .json: "StorageCore.StorageColumn<StorageLog.StoredJSON<\(property.type)>>(\(name))"
                default: "StorageCore.StorageColumn<\(property.type)>(\(name))"
                }
            return "\(property.access.prefix)let \(property.identifier) = \(value)"
        }
        return """
            \(access)struct Columns: Swift.Sendable {
            \(indented(members.joined(separator: "\n"), by: 1))
            }

            \(access)static let columns = Columns()
            """
    }

    /// The names of the columns as cases, for calls that accept one with a leading dot. The columns of embedded properties are
    /// known only at run time, so they have none.
    private var columnCases: String {
        let cases = allProperties.filter(\.canBeCase).map { property in
            let name = property.identifier
            return name == property.column ? "case \(name)" : "case \(name) = \(literal(property.column))"
        }
        return """
            \(access)enum ColumnName: Swift.String, Swift.Sendable {
            \(indented(cases.joined(separator: "\n"), by: 1))
            }
            """
    }

    /// The column of each relationship.
    private var relationships: String {
        let lines = entity.properties.compactMap { property -> String? in
            switch property.role {
            case .hasMany(let key), .belongsTo(let key, _, _):
                "if path == \\\(entity.name).\(property.identifier) {\n    return \(literal(key))\n}"
            default: nil
            }
        }
        guard !lines.isEmpty else { return "" }
        return """
            \(access)static func foreignKey(of path: Swift.PartialKeyPath<\(entity.name)>) -> Swift.String? {
            \(indented(lines.joined(separator: "\n"), by: 1))
                return nil
            }
            """
    }

    /// The arguments of the entity's initialiser; `value` returns those of stored properties.
    private func entityArguments(_ value: (StoredProperty) -> String) -> String {
        entity.properties.map { property in
            let argument =
                switch property.role {
                case .hasMany: "[]"
                case .belongsTo: "nil"
                default: value(property)
                }
            return "\(property.label): \(argument)"
        }.joined(separator: ", ")
    }

    private var storage: String {
        allProperties.map { "\($0.access.prefix)var \($0.identifier): \($0.type)" }.joined(separator: "\n")
    }

    /// The memberwise initialiser, which the initialisers that read a row would suppress.
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
        let entityArguments = entityArguments { "self.\($0.identifier)" }
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
        var writes = allProperties.enumerated().map { write($1, at: "\($0 + 1)") }
        var reads = allProperties.enumerated().map { "self.\($1.identifier) = \(read($1, at: "\($0)"))" }
        // The columns of embedded properties are known only at run time.
        if hasEmbedded {
            writes = ["var index: Swift.Int32 = 1"] + allProperties.map { write($0, at: "&index") }
            reads =
                ["var index: Swift.Int32 = 0"]
                + allProperties.map { "self.\($0.identifier) = \(read($0, at: "&index"))" }
        }
        let key = properties.first { $0.column == "id" }?.type ?? "E.Id"
        return """
            \(access)func write(to row: StorageLog.RowWriter) throws {
            \(indented(writes.joined(separator: "\n"), by: 1))
            }

            \(access)init(reading row: StorageLog.RowReader) throws {
            \(indented(reads.joined(separator: "\n"), by: 1))
            }

            \(access)static func key(of id: \(key)) -> StorageCore.StorageValue {
                StorageLog._RowKey.value(of: id)
            }
            """
    }

    /// A running index, used and incremented.
    private static func plain(_ index: String) -> String {
        index == "&index" ? "StorageLog._StorageEmbedding.next(&index)" : index
    }

    private func write(_ property: StoredProperty, at index: String) -> String {
        let value = "self.\(property.identifier)"
        return
            switch property.role
        {
        case .json: "try StorageLog._StorageJSON.write(\(value), to: row, at: \(Self.plain(index)))"
        case .embedded: "try StorageLog._StorageEmbedding.write(\(value), to: row, at: \(index))"
        default: "try row.write(\(value), at: \(Self.plain(index)))"
        }
    }

    private func read(_ property: StoredProperty, at index: String) -> String {
        switch property.role {
        case .json: "try StorageLog._StorageJSON.read(\(property.metatype), from: row, at: \(Self.plain(index)))"
        case .embedded: "try StorageLog._StorageEmbedding.read(\(property.metatype), from: row, at: \(index))"
        default: "try row.read(\(property.metatype), at: \(Self.plain(index)))"
        }
    }

    /// Reads entities directly from rows, without a record in between.
    private var reading: String {
        let start = hasEmbedded ? "\n        var index: Swift.Int32 = 0" : ""
        var offset = -1
        let arguments = entityArguments { property in
            offset += 1
            return read(property, at: hasEmbedded ? "&index" : "\(offset)")
        }
        return """
            \(access)static func entities(reading rows: StorageLog.StatementRows) throws -> [\(entity.name)] {
                let row = rows.row
                var entities: [\(entity.name)] = []
                while try rows.next() {\(start)
                    entities.append(\(entity.name)(\(arguments)))
                }
                return entities
            }
            """
    }

    private var rowCoding: String {
        let coding = "StorageLog._ColumnCoding"
        let reads = allProperties.map { property in
            let name = literal(property.column)
            let value =
                switch property.role {
                case .json: "StorageLog._StorageJSON.decode(\(property.metatype), from: row, \(name))"
                case .embedded(let prefix):
                    "StorageLog._StorageEmbedding.decode(\(property.metatype), from: row, prefix: \(literal(prefix)))"
                default: "\(coding).decode(\(property.metatype), from: row, \(name))"
                }
            return "self.\(property.identifier) = try \(value)"
        }
        let writes = allProperties.map { property in
            let name = literal(property.column)
            let value = "self.\(property.identifier)"
            return
                switch property.role
            {
            case .json: "try StorageLog._StorageJSON.encode(\(value), to: &container, \(name))"
            case .embedded(let prefix):
                "try StorageLog._StorageEmbedding.encode(\(value), to: &container, prefix: \(literal(prefix)))"
            default: "try \(coding).encode(\(value), to: &container, \(name))"
            }
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
