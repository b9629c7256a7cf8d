internal import StorageCore
internal import StorageLog
internal import StorageProjections

extension Schema {
    /// Applies the declared schema to an open store. Opening a store does this automatically.
    ///
    /// ```swift
    /// var schema = AppMigrations()
    /// schema.autoSchema(UserRecord.self)
    /// try schema.run(on: context.storage.pool)
    /// ```
    ///
    /// As when a store is opened, all steps are one transaction, and other writes wait for its end. Declare the whole schema:
    /// if the store has applied a migration that isn't declared, it counts as written by a newer program. An open store is
    /// never erased, whatever the options say.
    ///
    /// Only projections that were declared when the store was opened can be declared here.
    ///
    /// - Returns: What was changed.
    /// - Throws: `invalid-argument` for a projection that the store wasn't opened with; also what `StorageKit.start` throws for
    ///   the same declaration.
    @discardableResult
    public func run(on pool: StoragePool) throws -> SchemaPlan {
        let declared = pool.storage.runtime.registrations
        for projection in projections
        where declared[projection.name]?.projection.version != projection.projection.version {
            throw StorageError(
                .invalidArgument, "The projection \(projection.name) isn't one that the store was opened with.",
                remedy: "Declare projections when the store is opened, because they follow every commit from then on.")
        }
        return try SchemaApplication(schema: self, engine: pool.storage.engine).apply()
    }
}
