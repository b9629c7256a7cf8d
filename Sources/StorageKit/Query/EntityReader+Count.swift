public import StorageEntities

extension EntityReader {
    /// Returns the number of entities of a type.
    ///
    /// - Throws: ``StorageError`` as ``EntityReader`` says.
    public func count<E: RegisteredEntity>(_ type: E.Type) async throws -> Int {
        let run = QueryRun(request: QueryRequest<E>())
        let isOfPast = past != nil
        return try await readingRows(of: E.Record.databaseTableName) { try run.count($0, isOfPast: isOfPast) }
    }
}
