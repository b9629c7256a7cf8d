extension Storage {
    /// Returns the position of a row's last event, for use as ``RowPrecondition/position(_:)``; nil if there is no row.
    ///
    /// ```swift
    /// let position = try await storage.position(of: User.self, id: "1")
    /// ```
    ///
    /// - Throws: ``StorageError`` as ``EntityReader`` says.
    public func position<E: RegisteredEntity>(of type: E.Type, id: E.Id) async throws -> Int64? {
        let table = EntityTableCache.of(E.Record.self)
        let key = E.Record.key(of: id)
        return try await reading([table.name]) { db in try table.position(key, in: db) }
    }

    /// Returns the entity with this id and the position of its last event, read from one state; nil if there is none. Pass the
    /// position to ``save(_:expecting:)`` so as not to overwrite a concurrent change:
    ///
    /// ```swift
    /// if let (found, position) = try await storage.getWithPosition(User.self, id: "1") {
    ///     var user = found
    ///     user.name = "Anna"
    ///     try await storage.save(user, expecting: .position(position))
    /// }
    /// ```
    ///
    /// A web server can send the position as the entity tag (`ETag`) and receive it in `If-Match`.
    ///
    /// - Throws: ``StorageError`` as ``EntityReader`` says.
    public func getWithPosition<E: RegisteredEntity>(
        _ type: E.Type, id: E.Id
    ) async throws -> (entity: E, position: Int64)? {
        let table = EntityTableCache.of(E.Record.self)
        let key = E.Record.key(of: id)
        return try await reading([table.name]) { db in
            guard let entity = try table.entity(key, in: db), let position = try table.position(key, in: db) else {
                return nil
            }
            return (entity, position)
        }
    }
}
