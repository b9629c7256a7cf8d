internal import GRDB
internal import StorageCore
internal import StorageLog

/// The part of a rebuild that runs on the writer: creates shadows, applies the log to them, and swaps them with the
/// tables.
///
/// Each call is one transaction. Not `Sendable`: used on the writer's queue only.
struct RebuildWriter {
    /// Thrown if the schema has changed during a rebuild; shadows that no longer fit are started over.
    struct Outdated: Error {}
    /// Thrown if a commit waits for the writer; nothing of the step was kept.
    struct Interrupted: Error {}

    let writer: LogWriter
    let db: GRDB.Database

    /// The shadows of these entities.
    ///
    /// - Throws: ``Outdated`` if one is missing or no longer fits.
    func shadows(_ entities: Set<UInt32>) throws -> [ShadowTable] {
        let shadows = try ShadowTable.load(writer.database).filter { entities.contains($0.entity) }
        guard shadows.count == entities.count, shadows.allSatisfy({ $0.fits(writer.catalog) }) else { throw Outdated() }
        return shadows
    }

    /// Runs a step that visits many pages and returns to few of them: a larger page cache would only use memory, and a
    /// much smaller one would evict pages that are written once more, after which SQLite reads everything that it wrote
    /// after them again.
    func passing<Result>(_ body: () throws -> Result) throws -> Result {
        let current = try PreparedStatement(writer.database, "PRAGMA cache_size")
        let size = try current.step() ? current.integer(0) : 0
        current.reset()
        try pragma("cache_size = -8000")
        // Can fail only where the connection is lost, and then nothing follows.
        defer { try? pragma("cache_size = \(size)") }
        return try body()
    }

    func pragma(_ text: String) throws { try PreparedStatement(writer.database, "PRAGMA \(text)").execute() }
}
