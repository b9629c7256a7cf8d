internal import StorageCore
internal import StorageLog

/// One of the tables of ``HistoryTableInstaller``: its name, and the names and meanings of its columns.
struct HistoryTable {
    enum Kind { case history, changes, commits }

    /// The meaning of a column. `key` is a part of the row's key, by its index in it.
    enum Role: Hashable {
        case position, until, commit, time, actor, reason, operation, changed
        case key(Int)
        case value
    }

    let name: String
    let kind: Kind
    /// nil for the table of the commits.
    let entity: CatalogEntity?
    let columns: [String]
    /// The entity's columns whose values the table's columns hold, by the names of the latter.
    private let origins: [ExactText: CatalogColumn]
    private let roles: [Role]

    /// The leading columns of a table of versions and of one of changes, and all columns of the commits, with their meanings.
    private static let versionRoles: [Role] = [.position, .until, .commit, .time, .actor, .reason, .operation]
    private static let changeRoles: [Role] = [.position, .commit, .time, .actor, .reason, .operation, .changed]
    private static let commitColumns: [(name: String, role: Role)] = [
        ("number", .commit), ("first", .value), ("last", .value), ("time", .time), ("actor", .actor), ("app", .value),
        ("reason", .reason), ("correlation", .value), ("events", .value),
    ]

    /// A table with a row for each version of an entity's rows.
    init(versionsOf entity: CatalogEntity, named name: String) {
        let names = entity.live.map(\.stored)
        self.name = name
        self.entity = entity
        kind = .history
        columns = Self.free(Self.versionRoles.map(Self.name), besides: names) + names
        roles = Self.versionRoles + entity.live.map { $0.keyOrdinal > 0 ? .key($0.keyOrdinal - 1) : .value }
        origins = Self.origins(entity.live, named: names)
    }

    /// A table with a row for each event of an entity.
    init(changesOf entity: CatalogEntity, named name: String) {
        let keys = entity.key.map(\.stored)
        let others = entity.live.filter { $0.keyOrdinal == 0 }
        let pairs = others.flatMap { ["old_\($0.stored)", "new_\($0.stored)"] }
        let values = Self.free(pairs, besides: keys)
        self.name = name
        self.entity = entity
        kind = .changes
        columns = Self.free(Self.changeRoles.map(Self.name), besides: keys + values) + keys + values
        roles = Self.changeRoles + keys.indices.map(Role.key) + values.map { _ in .value }
        origins = Self.origins(entity.key, named: keys)
            .merging(Self.origins(others.flatMap { [$0, $0] }, named: values)) { key, _ in key }
    }

    /// The table of the commits.
    init(commitsNamed name: String) {
        self.name = name
        entity = nil
        kind = .commits
        columns = Self.commitColumns.map(\.name)
        roles = Self.commitColumns.map(\.role)
        origins = [:]
    }

    /// The table's qualified name in SQL.
    var path: String { "temp.\(quoted(name))" }

    /// Its column definitions in SQL: the first is the position of an event, or the number of a commit.
    var definitions: [String] {
        columns.indices.map { index in
            let clause = index == 0 ? "INTEGER PRIMARY KEY" : origin(of: index)?.comparisonClause ?? "BLOB"
            return "\(quoted(columns[index])) \(clause)"
        }
    }

    func affinity(of column: Int) -> ColumnAffinity { origin(of: column)?.affinity ?? .blob }

    private func origin(of column: Int) -> CatalogColumn? { origins[columns[column].folded] }

    func role(of column: Int) -> Role { roles[column] }

    /// The index of a column; nil if the table has no such column.
    func column(of role: Role) -> Int? { roles.firstIndex(of: role) }

    private static func name(of role: Role) -> String { role == .operation ? "_op" : "_\(role)" }

    private static func origins(_ columns: [CatalogColumn], named names: [String]) -> [ExactText: CatalogColumn] {
        Dictionary(zip(names.map(\.folded), columns)) { first, _ in first }
    }

    /// Makes names unique among others.
    private static func free(_ names: [String], besides others: [String]) -> [String] {
        var taken = Set(others.map(\.folded))
        return names.map { name in
            var name = name
            while !taken.insert(name.folded).inserted { name = "_\(name)" }
            return name
        }
    }
}
