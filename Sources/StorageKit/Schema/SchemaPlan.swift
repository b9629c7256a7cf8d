internal import StorageCore
internal import StorageLog

/// The changes that applying a schema makes in a store, or would make.
///
/// ```swift
/// let plan = try StorageKit.plan(at: url) { $0.autoSchema(UserRecord.self) }
/// for step in plan.steps { print(step.title, step.changes) }
/// ```
public struct SchemaPlan: Sendable, CustomStringConvertible {
    /// A step that changes something or is recorded as done.
    public struct Step: Sendable {
        /// The step's name, such as `migration 2026-01-20_lower_case`.
        public let title: String
        /// The changes of tables and rows, one line for each; empty for a step that is only recorded as done.
        public let changes: [String]
    }

    /// The steps with something to do, in order.
    public internal(set) var steps: [Step] = []

    /// Whether there is nothing to do.
    public var isEmpty: Bool { steps.isEmpty }

    public var description: String {
        steps.map { step in ([step.title] + step.changes.map { "  " + $0 }).joined(separator: "\n") }
            .joined(separator: "\n")
    }
}

extension SchemaPlan {
    /// What a step changed in the catalog, as lines of text.
    static func changes(from old: Catalog, to new: Catalog) -> [String] {
        SchemaChange.all(from: old, to: new).flatMap(lines)
    }

    private static func lines(_ change: SchemaChange) -> [String] {
        switch change {
        case .tableAdded(let entity):
            ["create table \"\(entity.name)\" (\(entity.live.map(describe).joined(separator: ", ")))"]
        case .tableDropped(let entity): ["drop table \"\(entity.name)\""]
        case .tableRenamed(let old, let new): ["rename table \"\(old.name)\" to \"\(new.name)\""]
        case .tableRedefined(let entity): ["change constraints, indexes or triggers of \"\(entity.name)\""]
        case .columnAdded(let column, let entity): ["add column \"\(entity.name)\".\(describe(column))"]
        case .columnDropped(let column, let entity): ["drop column \"\(entity.name)\".\"\(column.name)\""]
        case .columnRenamed(let old, let new, let entity):
            ["rename column \"\(entity.name)\".\"\(old.name)\" to \"\(new.name)\""]
        case .columnChanged(let old, let new, let entity):
            ["change column \"\(entity.name)\".\(describe(old)) to \(describe(new))"]
        case .columnConverted(let old, let new, let entity):
            lines(.columnDropped(old, of: entity)) + lines(.columnAdded(new, of: entity))
        }
    }

    private static func describe(_ column: CatalogColumn) -> String {
        let type = column.type.isEmpty ? "" : " \(column.type)"
        return "\"\(column.name)\"\(type)\(column.required ? " NOT NULL" : "")"
    }
}
