internal import StorageCore

/// What the commit under way has done to the catalog, and what is still to be done about it.
struct CatalogChanges {
    /// Rows of the catalog that are written when the commit is finished: capture can't take them while a statement is under way.
    var rows: [UInt32: CatalogRow] = [:]
    /// The catalog by SQLite's schema version, for the versions that this commit has gone through.
    var states: [Int64: CatalogState] = [:]
    /// Whether projections haven't heard yet that the catalog has changed.
    var areUnreported = false
    /// Whether the catalog names entities or columns that capture doesn't know yet.
    var isCaptureOutdated = false
    /// Entities whose rows have other rowids than before.
    var renumbered: Set<UInt32> = []
}

/// The catalog at one version of SQLite's schema, to return to when a savepoint is undone.
struct CatalogState {
    var catalog: Catalog
    var rows: [UInt32: CatalogRow]
    var schema: SchemaState
}
