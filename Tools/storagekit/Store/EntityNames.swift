import StorageLog

/// Finds tables and columns by the names that people type.
struct EntityNames {
    let catalog: Catalog

    /// Every entity that has or had a name, the one that has it now first.
    func entities(named name: String) throws(CommandError) -> [CatalogEntity] {
        let found = catalog.entities.filter { $0.name.utf8.elementsEqual(name.utf8) }
        guard found.isEmpty else { return found.filter { !$0.isDropped } + found.filter(\.isDropped) }
        let names = Set(users.map(\.name)).sorted()
        let similar = Suggestions.nearest(to: name, among: names)
        throw CommandError(
            .notFound, "There is no table \"\(name)\".",
            why: names.isEmpty ? "The store has no tables." : "The tables are \(Self.list(names)).",
            next: similar.isEmpty ? Self.hint(for: name) : "Did you mean \(similar.joined(separator: ", "))?")
    }

    /// Makes sure that one of the entities has or had a column.
    func check(column name: String, of entities: [CatalogEntity]) throws(CommandError) {
        let names = Set(entities.flatMap(\.columns).map(\.name))
        guard !names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else { return }
        let tables = Set(entities.map(\.name))
        let similar = Suggestions.nearest(to: name, among: Array(names))
        throw CommandError(
            .notFound,
            "There is no column \"\(name)\" in " + (tables.count == 1 ? "\"\(tables.first ?? "")\"." : "any table."),
            why: "The columns are \(Self.list(names.sorted())).",
            next: similar.isEmpty ? "" : "Did you mean \(similar.joined(separator: ", "))?")
    }

    /// The entities of users, dropped ones included.
    var users: [CatalogEntity] { catalog.entities.filter { $0.id != CatalogEntity.catalog.id } }

    /// The first few names, and how many more there are.
    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(8).joined(separator: ", ")
        return names.count > 8 ? "\(shown) and \(names.count - 8) more" : shown
    }

    /// Somebody who types a point where a table is expected probably wants a range.
    private static func hint(for name: String) -> String {
        let isPoint = (try? PointArgument(name, now: 0)) != nil
        return isPoint ? "For history up to a point type ..\(name), for what came after it \(name).." : ""
    }
}
