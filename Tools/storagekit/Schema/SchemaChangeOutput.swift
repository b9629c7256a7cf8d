import StorageCore
import StorageKit

/// How changes of the schema are shown.
extension SchemaChange {
    /// The names that the table had before and after.
    var tableNames: [String] {
        if case .tableRenamed(let old, let new) = self { return [old.name, new.name] }
        return [entity.name]
    }

    /// `+ posts.title  TEXT`; a table that is new has a line for each column.
    func lines(indent: Int) -> [StyledLine] {
        let target = TargetArgument(table: entity.name).description
        switch self {
        case .tableAdded(let entity):
            let columns = entity.live.map { column in
                Self.line(indent + 4, "+", .added, column.name, Self.text(column))
            }
            return [Self.line(indent, "+", .added, target, "")] + columns
        case .tableDropped: return [Self.line(indent, "-", .removed, target, "")]
        case .tableRenamed(let old, _):
            return [Self.line(indent, "~", .changed, "\(TargetArgument(table: old.name)) → \(target)", "")]
        case .tableRedefined: return [Self.line(indent, "~", .changed, target, "constraints, indexes or triggers")]
        case .columnAdded(let column, _):
            return [Self.line(indent, "+", .added, "\(target).\(column.name)", Self.text(column))]
        case .columnDropped(let column, _):
            return [Self.line(indent, "-", .removed, "\(target).\(column.name)", Self.text(column))]
        case .columnRenamed(let old, let new, _):
            return [Self.line(indent, "~", .changed, "\(target).\(old.name) → \(target).\(new.name)", "")]
        case .columnChanged(let old, let new, _):
            return [Self.line(indent, "~", .changed, "\(target).\(new.name)", "\(Self.text(old)) → \(Self.text(new))")]
        case .columnConverted(let old, let new, _):
            let name = old.name.utf8.elementsEqual(new.name.utf8) ? new.name : "\(old.name) → \(target).\(new.name)"
            return [
                Self.line(
                    indent, "~", .changed, "\(target).\(name)",
                    "\(Self.text(old)) → \(Self.text(new)), values converted")
            ]
        }
    }

    private static func line(
        _ indent: Int, _ sign: String, _ role: Style.Role, _ name: String, _ rest: String
    ) -> StyledLine {
        var line = StyledLine(String(repeating: " ", count: indent))
        line.add(sign, role)
        line.add(" \(name)")
        if !rest.isEmpty { line.add("  \(rest)", .dim) }
        return line
    }

    private static func text(_ column: CatalogColumn) -> String {
        let parts = [
            column.type.isEmpty ? "no type" : column.type, column.keyOrdinal > 0 ? "key" : "",
            column.required ? "not null" : "",
        ]
        return parts.filter { !$0.isEmpty }.joined(separator: " ")
    }

}
