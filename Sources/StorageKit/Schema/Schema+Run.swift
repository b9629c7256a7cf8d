extension Schema {
    /// Brings a store that is open to what is declared; opening a store does it by itself.
    ///
    /// ```swift
    /// var schema = AppMigrations()
    /// schema.autoSchema(UserRecord.self)
    /// try schema.run(on: context.storage.pool)
    /// ```
    ///
    /// As at opening, all steps are one transaction, and other writes wait for its end. Declare the whole schema: a store
    /// that has gone through a migration which isn't declared is taken for one from a newer program. An open store is never
    /// erased, whatever the options say.
    ///
    /// - Returns: What was changed.
    /// - Throws: What `StorageKit.start` throws for the same declaration.
    @discardableResult
    public func run(on pool: StoragePool) throws -> SchemaPlan {
        try SchemaRun(schema: self, engine: pool.storage.engine).apply()
    }
}
