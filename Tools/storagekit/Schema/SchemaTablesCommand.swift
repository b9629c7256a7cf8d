import ArgumentParser
import StorageKit

/// `storagekit schema tables`: the tables as they are or were.
struct SchemaTablesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tables", abstract: "Show tables and columns, now or as of a point (default).",
        discussion: """
            Names and types are those at the point. Full-text indexes and projections have no history and are shown \
            for the present only.

              storagekit schema -s app.sqlite
              storagekit schema users -s app.sqlite --at t:77
            """)

    @Argument(help: "Tables to show. Default: all.")
    var tables: [String] = []

    @OptionGroup var store: StoreOption

    @Option(
        name: .long, parsing: .unconditional, help: "The point. Default: the present.",
        transform: { try PointArgument($0, now: SystemTime.now) })
    var at: PointArgument?

    @OptionGroup var format: FormatOptions

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "schema")
        let command = self
        try await store.read { store in
            let position = try command.at.map { try store.position(of: $0) }
            let catalog = try position.map { try Catalog.load(store.connection, at: $0) } ?? store.catalog
            var entities = catalog.live
            for name in command.tables { try command.require(name, in: catalog, at: position, of: store) }
            if !command.tables.isEmpty {
                let wanted = Set(command.tables.map(ExactText.init))
                entities = entities.filter { wanted.contains(ExactText($0.name)) }
            }
            let printer = SchemaPrinter(ResultOutput(command.format))
            if let position { try printer.heading("at @\(position)") }
            let indexes = position == nil ? try FullTextIndex.load(store.connection) : []
            let projections = position == nil ? try StoredProjection.all(in: store.connection) : []
            let unrecorded =
                position == nil && command.tables.isEmpty
                ? try UnrecordedTables.names(in: store.connection, catalog: catalog) : []
            try printer.write(
                entities, of: catalog, indexes: indexes,
                unrecorded: unrecorded,
                readers: projections.map {
                    .init(name: $0.name, kind: $0.kind, version: $0.version, entities: $0.tables.entities)
                })
        }
    }

    /// - Throws: `notFound` if the catalog has no such table, with advice where to find it.
    private func require(
        _ name: String, in catalog: Catalog, at position: Int64?, of store: HistoryReader
    ) throws {
        let found: [CatalogEntity]
        do {
            found = try EntityNames(catalog: catalog).users(named: name)
        } catch {
            guard let at, let position,
                let later = try CommandError(
                    laterTable: name, than: position, recorded: catalog, at: at, in: store,
                    former: { "Type: storagekit schema --at \("\(at)".quotedAsShellWord) \([$0].quotedAsOperands)" },
                    first: { "As it was first: storagekit schema --at t:\($0) \([$1].quotedAsOperands)" })
            else { throw error }
            throw later
        }
        guard found.allSatisfy(\.isDropped) else { return }
        throw CommandError(
            .notFound, "The table \"\(name)\" was dropped.",
            next: "See its history: storagekit schema log \([name].quotedAsOperands)")
    }
}
