import StorageKit

/// How changes of the schema are shown.
extension SchemaChange {
    /// The names that the table had before and after.
    var tableNames: [String] {
        if case .tableRenamed(let old, let new) = self { return [old.name, new.name] }
        return [entity.name]
    }

    /// `+ posts.title  TEXT`; a new table has a line for each column.
    func lines(indent: Int) -> [StyledLine] {
        let target = TargetArgument(table: entity.name).description
        switch self {
        case .tableAdded(let entity):
            let columns = entity.live.map { column in
                Self.line(column.name, Self.text(column), sign: .added, indent: indent + 4)
            }
            return [Self.line(target, sign: .added, indent: indent)] + columns
        case .tableDropped: return [Self.line(target, sign: .removed, indent: indent)]
        case .tableRenamed(let old, _):
            return [Self.line("\(TargetArgument(table: old.name)) → \(target)", sign: .changed, indent: indent)]
        case .tableRedefined:
            return [Self.line(target, "constraints, indexes or triggers", sign: .changed, indent: indent)]
        case .columnAdded(let column, _):
            return [Self.line("\(target).\(column.name)", Self.text(column), sign: .added, indent: indent)]
        case .columnDropped(let column, _):
            return [Self.line("\(target).\(column.name)", Self.text(column), sign: .removed, indent: indent)]
        case .columnRenamed(let old, let new, _):
            return [Self.line("\(target).\(old.name) → \(target).\(new.name)", sign: .changed, indent: indent)]
        case .columnChanged(let old, let new, _):
            let types = "\(Self.text(old)) → \(Self.text(new))"
            return [Self.line("\(target).\(new.name)", types, sign: .changed, indent: indent)]
        case .columnConverted(let old, let new, _):
            let name = old.name.utf8.elementsEqual(new.name.utf8) ? new.name : "\(old.name) → \(target).\(new.name)"
            let types = "\(Self.text(old)) → \(Self.text(new)), values converted"
            return [Self.line("\(target).\(name)", types, sign: .changed, indent: indent)]
        }
    }

    private enum Sign: String {
        case added = "+"
        case removed = "-"
        case changed = "~"

        var role: Style.Role {
            switch self {
            case .added: .added
            case .removed: .removed
            case .changed: .changed
            }
        }
    }

    private static func line(_ name: String, _ rest: String = "", sign: Sign, indent: Int) -> StyledLine {
        var line = StyledLine(String(repeating: " ", count: indent))
        line.add(sign.rawValue, sign.role)
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
