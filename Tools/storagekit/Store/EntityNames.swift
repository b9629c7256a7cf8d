import StorageKit

extension CommandError {
    /// The error for a query that names a missing table.
    init(missingTable name: String, among names: [String], next: String = "") {
        let similar = Suggestions.nearest(to: name, among: names)
        self.init(
            .notFound, "There is no table \"\(name)\".",
            why: names.isEmpty ? "There are no tables." : "The tables are \(Suggestions.list(names)).",
            next: similar.isEmpty
                ? next.isEmpty ? "Name one of them." : next : "Did you mean \(similar.joined(separator: ", "))?")
    }
}

/// Finds tables and columns by the names that people type.
struct EntityNames {
    let catalog: Catalog
    /// The store in which tables without history are looked up, for their own error.
    private let store: HistoryReader?

    init(catalog: Catalog) { (self.catalog, store) = (catalog, nil) }

    init(_ store: HistoryReader) { (catalog, self.store) = (store.catalog, store) }

    /// Returns every entity that has or had a name, the current one first; including the store's own.
    func entities(named name: String) throws(CommandError) -> [CatalogEntity] {
        try entities(named: name, among: catalog.entities)
    }

    /// Returns the same without the store's own entities, for commands that compare or change states.
    func users(named name: String) throws(CommandError) -> [CatalogEntity] {
        try entities(named: name, among: users)
    }

    private func entities(named name: String, among known: [CatalogEntity]) throws(CommandError) -> [CatalogEntity] {
        let found = known.filter { $0.name.utf8.elementsEqual(name.utf8) }
        guard found.isEmpty else { return found.filter { !$0.isDropped } + found.filter(\.isDropped) }
        let names = Set(users.map(\.name)).sorted()
        // If even that can't be read, the table counts as missing.
        if let store, let others = try? UnrecordedTables.names(in: store.connection, catalog: catalog),
            others.contains(where: { $0.folded == name.folded })
        {
            throw CommandError(
                .notFound, "The table \"\(name)\" has no history.", why: "The store doesn't record its changes.",
                next: "Why: storagekit adopt STORE --in-place --dry-run. Its rows: storagekit sql "
                    + "SELECT * FROM \(quoted(name))".quotedAsShellWord)
        }
        let similar = Suggestions.nearest(to: name, among: names)
        if similar.isEmpty { try Self.checkPoint(name) }
        throw CommandError(
            .notFound, "There is no table \"\(name)\".",
            why: names.isEmpty ? "The store has no tables." : "The tables are \(Suggestions.list(names)).",
            next: Self.row(name, among: names).map { "Did you mean the row \($0)?" }
                ?? (similar.isEmpty ? Self.hint(for: name) : "Did you mean \(similar.joined(separator: ", "))?"))
    }

    /// Refuses a mistyped relative point: `HyphenArguments` writes -1.5h as now-1.5h.
    private static func checkPoint(_ name: String) throws(CommandError) {
        guard name.hasPrefix("now-") else { return }
        do throws(GrammarError) {
            _ = try PointArgument(name, now: 0)
        } catch {
            throw CommandError(wrapping: error)
        }
    }

    /// A row as other tools write it: users.42, users:42.
    private static func row(_ name: String, among tables: [String]) -> String? {
        guard let sign = name.firstIndex(where: { $0 == "." || $0 == ":" }) else { return nil }
        let table = String(name[..<sign])
        return tables.contains(table) ? "\(table)/\(name[name.index(after: sign)...])" : nil
    }

    /// Makes sure that one of the entities has or had a column.
    func check(column name: String, of entities: [CatalogEntity]) throws(CommandError) {
        let known = entities.flatMap(\.columns).map(\.name)
        guard !known.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else { return }
        let names = Set(known)
        let tables = Set(entities.map(\.name))
        let similar = Suggestions.nearest(to: name, among: Array(names))
        throw CommandError(
            .notFound,
            "There is no column \"\(name)\" in " + (tables.count == 1 ? "\"\(tables.first ?? "")\"." : "any table."),
            why: "The columns are \(Suggestions.list(names.sorted())).",
            next: similar.isEmpty ? "Name one of them." : "Did you mean \(similar.joined(separator: ", "))?")
    }

    /// The entities of users, dropped ones included.
    var users: [CatalogEntity] { catalog.entities.filter { !$0.isReserved } }

    /// A user who types a point where a table is expected probably wants a range.
    private static func hint(for name: String) -> String {
        // A number alone may be a commit, a position, or a row whose table is missing before it.
        if let likely = PointSuggestion.likely(name), name.allSatisfy(\.isNumber) {
            return "A row is TABLE/\(name), a point \(likely)."
        }
        let isPoint = (try? PointArgument(name, now: 0)) != nil
        return isPoint
            ? "For history up to a point type ..\(name), for later history \(name).." : "Type: storagekit schema"
    }
}
