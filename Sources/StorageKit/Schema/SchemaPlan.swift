internal import StorageCore
internal import StorageLog

/// What applying a schema changes in a store, or would change.
public struct SchemaPlan: Sendable, CustomStringConvertible {
    /// One step that has something to do.
    public struct Step: Sendable {
        /// What the step is called, such as `migration 2026-01-20_lower_case`.
        public let title: String
        /// What becomes of tables and rows, a line for each change; empty for steps that are only remembered as done.
        public let changes: [String]
    }

    public internal(set) var steps: [Step] = []

    /// Whether there is nothing to do.
    public var isEmpty: Bool { steps.isEmpty }

    public var description: String {
        steps.map { step in ([step.title] + step.changes.map { "  " + $0 }).joined(separator: "\n") }
            .joined(separator: "\n")
    }
}

extension SchemaPlan {
    /// What a step has made of the catalog, told in lines.
    static func changes(from old: Catalog, to new: Catalog) -> [String] {
        var lines: [String] = []
        for entity in new.entities {
            guard let before = old.entity(id: entity.id) else {
                let columns = entity.live.map(describe).joined(separator: ", ")
                lines.append("create table \"\(entity.name)\" (\(columns))")
                continue
            }
            guard entity != before else { continue }
            if entity.isDropped {
                lines.append("drop table \"\(before.name)\"")
                continue
            }
            if entity.name != before.name { lines.append("rename table \"\(before.name)\" to \"\(entity.name)\"") }
            let columns = columnChanges(from: before, to: entity)
            lines += columns
            if columns.isEmpty, entity.definition != before.definition, entity.name == before.name {
                lines.append("change constraints, indexes or triggers of \"\(entity.name)\"")
            }
        }
        return lines
    }

    private static func columnChanges(from before: CatalogEntity, to entity: CatalogEntity) -> [String] {
        entity.columns.compactMap { column in
            guard let known = before.columns.first(where: { $0.id == column.id }) else {
                return column.isDropped ? nil : "add column \"\(entity.name)\".\(describe(column))"
            }
            if column.isDropped != known.isDropped { return "drop column \"\(entity.name)\".\"\(known.name)\"" }
            if column.name != known.name {
                return "rename column \"\(entity.name)\".\"\(known.name)\" to \"\(column.name)\""
            }
            if column.type != known.type || column.required != known.required {
                return "change column \"\(entity.name)\".\(describe(known)) to \(describe(column))"
            }
            return nil
        }
    }

    private static func describe(_ column: CatalogColumn) -> String {
        let type = column.type.isEmpty ? "" : " \(column.type)"
        return "\"\(column.name)\"\(type)\(column.required ? " NOT NULL" : "")"
    }
}
