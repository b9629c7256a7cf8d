internal import CSQLite
internal import GRDB
internal import StorageCore
internal import StorageHistory
internal import StorageLog
internal import Synchronization

/// The properties of an entity and its full-text index that a search needs.
struct SearchIndex: Sendable {
    /// The FTS5 table, quoted.
    let table: String
    /// The indexed columns, in order.
    let columns: [String]
    /// How texts are cut into words.
    let tokenizer: String
    /// The entity's table, quoted, and the name of its rowid.
    let entity: String
    let rowid: String
    /// The entity's columns as a search selects them, from the table named `e`.
    let selected: String
    let selectedCount: Int32

    /// Whether a tokenizer looks for signs as well as words.
    static func keepsSigns(_ tokenizer: String) -> Bool { tokenizer.hasPrefix("trigram") }
}

/// The full-text indexes that were searched, so that a search needn't read the catalog.
///
/// Every change of an index, or of the name of a table or column, changes SQLite's schema version; an entry of another
/// version than the read sees is looked up again.
///
/// Isolation: `Sendable`, its state behind a mutex that is never held while the database is read.
package final class SearchIndexes: Sendable {
    private struct Entry {
        let schemaVersion: Int32
        let index: SearchIndex
    }

    private let remembers: Bool

    /// - Parameter remembers: Whether the schema's version identifies the schema: not where databases are recreated.
    package init(remembers: Bool = true) { self.remembers = remembers }

    private let known = Mutex<[ObjectIdentifier: Entry]>([:])

    /// - Throws: `not-found` where the entity has no full-text index.
    func index<Record: StorageKitEntityRecord>(of type: Record.Type, _ db: GRDB.Database) throws -> SearchIndex {
        let connection = try db.connection
        let version = try db.schemaVersion()
        let key = ObjectIdentifier(type)
        if let entry = known.withLock({ $0[key] }), entry.schemaVersion == version, remembers { return entry.index }
        let index = try Self.find(EntityTableCache.of(type), connection)
        known.withLock { $0[key] = Entry(schemaVersion: version, index: index) }
        return index
    }

    private static func find<Record>(_ table: EntityTable<Record>, _ connection: Connection) throws -> SearchIndex {
        let catalog = try Catalog.load(connection)
        guard let entity = catalog.entity(named: table.name),
            let index = try FullTextIndex.load(connection).first(where: { $0.entity == entity.id })
        else {
            throw StorageError(
                .notFound, "\"\(table.name)\" has no full-text index.",
                remedy:
                    "Declare one with schema.addFullTextSearch(table: \"\(table.name)\", columns: […]) after its autoSchema."
            )
        }
        return SearchIndex(
            table: quoted(index.table), columns: index.columns.map { catalog.column(id: $0)?.name ?? "" },
            tokenizer: index.tokenizer, entity: quoted(table.name),
            rowid: try entity.rowid,
            selected: table.columns.map { "e.\(quoted($0.name))" }.joined(separator: ", "),
            selectedCount: Int32(table.columns.count))
    }
}
