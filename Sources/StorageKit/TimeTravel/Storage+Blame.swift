internal import GRDB
public import StorageCore
public import StorageEntities
public import StorageLog

extension Storage {
    /// Returns who set each value of a row, when and why: for each column, its value and the event that last set it.
    ///
    /// ```swift
    /// for cell in try await storage.blame(User.self, id: "42") ?? [] {
    ///     print(cell.field.column, cell.field.value, cell.commit.metadata.actor ?? "")
    /// }
    /// ```
    ///
    /// The key is left out, unless there is no other column. The cost is one look-up for each version of the row, back to the
    /// version that explains the last column.
    ///
    /// - Parameters:
    ///   - point: The state to explain.
    ///   - ignored: Commits to ignore, such as a bulk edit: the event before counts instead. The row's insert can't be ignored;
    ///     ``CellOrigin/isIgnored`` shows such a case.
    /// - Returns: The origins of the values; nil if there was no such row at the point.
    /// - Throws: `not-found` for an entity that the store doesn't have and for a point that isn't in the log.
    public func blame<E: RegisteredEntity>(
        _ type: E.Type, id: E.Id, at point: StoragePoint = .head,
        ignoring ignored: @escaping @Sendable (CommitInfo) -> Bool = { _ in false }
    ) async throws -> [CellOrigin]? {
        let given = [E.Record.key(of: id)]
        let name = E.Record.databaseTableName
        return try await engine.readLong { db in
            let connection = try db.connection
            let reader = LogReader(connection)
            let position = try reader.position(of: point)
            guard let entity = try Catalog.load(connection).entity(named: name) else {
                throw StorageError.noEntity(name)
            }
            for key in reader.recordedKeys(equalTo: given, in: entity) {
                let origins = try reader.origins(of: key, in: entity, at: position, ignoring: ignored)
                if let origins { return origins }
            }
            return nil
        }
    }
}
