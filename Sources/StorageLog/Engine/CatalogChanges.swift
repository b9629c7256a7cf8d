internal import StorageCore

/// The current commit's changes of the catalog, and the steps that remain to be done for them.
struct CatalogChanges {
    /// Rows of the catalog to write when the commit is finished: capture can't record them while a statement runs.
    var rows: [UInt32: CatalogRow] = [:]
    /// Earlier states of the catalog in this commit, by SQLite's schema version.
    var states: [Int64: CatalogState] = [:]
    /// Whether projections haven't been notified of the catalog's changes yet.
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
