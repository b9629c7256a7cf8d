internal import GRDB
internal import StorageCore
internal import StorageHistory
internal import StorageLog

/// The entities and full-text indexes of a store, as they were when they were looked at.
struct KnownSchema {
    private let catalog: Catalog
    private let fullTexts: [UInt32: FullTextIndex]
    /// -1 before they were looked at.
    private let version: Int32
    private let tables: Int

    init() { (catalog, fullTexts, version, tables) = (Catalog(), [:], -1, -1) }

    init(_ state: FeedState) throws {
        version = try state.rows.schemaVersion()
        tables = state.tables
        catalog = try Catalog.load(state.log)
        fullTexts = Dictionary(
            uniqueKeysWithValues: try FullTextIndex.load(state.log).map { ($0.entity, $0) })
    }

    func isCurrent(_ state: FeedState) throws -> Bool {
        try state.tables == tables && state.rows.schemaVersion() == version
    }

    func entity(named name: String) -> CatalogEntity? { catalog.entity(named: name) }

    func fullText(of entity: UInt32) -> FullTextIndex? { fullTexts[entity] }

    /// Whether the entity of this name is the very one, with the same columns and texts in the same tables, that another
    /// schema has under an id.
    func hasSame(_ name: String, as id: UInt32, of other: KnownSchema) -> Bool {
        guard tables == other.tables, let entity = catalog.entity(named: name) else { return false }
        return entity == other.catalog.entity(id: id) && fullTexts[entity.id] == other.fullTexts[entity.id]
    }
}
