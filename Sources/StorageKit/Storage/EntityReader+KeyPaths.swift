public import StorageCore
public import StorageEntities

// Columns by property, where the compiler checks the name.

extension EntityReader {
    /// Returns every entity of a type, in the order of a property's column.
    ///
    /// ```swift
    /// let users = try await storage.all(User.self, orderBy: \.name)
    /// ```
    ///
    /// - Throws: ``StorageError`` as ``EntityReader`` says.
    public func all<E: RegisteredEntity, Value>(
        _ type: E.Type, orderBy column: KeyPath<E.Record.Columns, StorageColumn<Value>>, ascending: Bool = true
    ) async throws -> [E] {
        try await all(type, orderBy: E.Record.columns[keyPath: column].name, ascending: ascending)
    }

    /// Returns a page of entities, in the order of a property's column.
    ///
    /// - Throws: ``StorageError`` with `invalid-argument` for a negative limit or offset; also as ``EntityReader`` says.
    public func page<E: RegisteredEntity, Value>(
        _ type: E.Type, orderBy column: KeyPath<E.Record.Columns, StorageColumn<Value>>, ascending: Bool = true,
        limit: Int, offset: Int = 0
    ) async throws -> RepoPage<E> {
        let name = E.Record.columns[keyPath: column].name
        return try await page(type, orderBy: name, ascending: ascending, limit: limit, offset: offset)
    }

    /// Unavailable: produces the compiler's message for a property that doesn't exist.
    @_disfavoredOverload
    @available(*, unavailable, message: "the entity has no stored property of this name, or it fills several columns")
    public func all<E: RegisteredEntity>(
        _ type: E.Type, orderBy column: _NoColumn.Path, ascending: Bool = true
    ) async throws -> [E] { [] }

    /// Unavailable: produces the compiler's message for a property that doesn't exist.
    @_disfavoredOverload
    @available(*, unavailable, message: "the entity has no stored property of this name, or it fills several columns")
    public func page<E: RegisteredEntity>(
        _ type: E.Type, orderBy column: _NoColumn.Path, ascending: Bool = true, limit: Int, offset: Int = 0
    ) async throws -> RepoPage<E> { RepoPage(items: [], nextOffset: 0, hasMore: false) }
}

extension TransactionReader {
    /// Returns every entity of a type, in the order of a property's column.
    ///
    /// - Throws: ``StorageError`` as ``TransactionReader`` says.
    public func all<E: RegisteredEntity, Value>(
        _ type: E.Type, orderBy column: KeyPath<E.Record.Columns, StorageColumn<Value>>, ascending: Bool = true
    ) throws -> [E] {
        try all(type, orderBy: E.Record.columns[keyPath: column].name, ascending: ascending)
    }

    /// Returns a page of entities, in the order of a property's column.
    ///
    /// - Throws: ``StorageError`` with `invalid-argument` for a negative limit or offset; also as ``TransactionReader`` says.
    public func page<E: RegisteredEntity, Value>(
        _ type: E.Type, orderBy column: KeyPath<E.Record.Columns, StorageColumn<Value>>, ascending: Bool = true,
        limit: Int, offset: Int = 0
    ) throws -> RepoPage<E> {
        let name = E.Record.columns[keyPath: column].name
        return try page(type, orderBy: name, ascending: ascending, limit: limit, offset: offset)
    }

    /// Unavailable: produces the compiler's message for a property that doesn't exist.
    @_disfavoredOverload
    @available(*, unavailable, message: "the entity has no stored property of this name, or it fills several columns")
    public func all<E: RegisteredEntity>(
        _ type: E.Type, orderBy column: _NoColumn.Path, ascending: Bool = true
    ) throws -> [E] { [] }

    /// Unavailable: produces the compiler's message for a property that doesn't exist.
    @_disfavoredOverload
    @available(*, unavailable, message: "the entity has no stored property of this name, or it fills several columns")
    public func page<E: RegisteredEntity>(
        _ type: E.Type, orderBy column: _NoColumn.Path, ascending: Bool = true, limit: Int, offset: Int = 0
    ) throws -> RepoPage<E> { RepoPage(items: [], nextOffset: 0, hasMore: false) }
}

extension Storage {
    /// Deletes the rows whose property holds a value, as one commit.
    ///
    /// ```swift
    /// let count = try await storage.deleteAll(User.self, where: \.name, equals: "Anna")
    /// ```
    ///
    /// - Returns: The number of deleted entities, not counting rows that foreign keys deleted or changed.
    /// - Throws: ``StorageError`` as ``Storage`` says.
    @discardableResult
    public func deleteAll<E: RegisteredEntity, Value: StorageColumnValue>(
        _ type: E.Type, where column: KeyPath<E.Record.Columns, StorageColumn<Value>>, equals value: Value
    ) async throws -> Int {
        try await deleteAll(type, where: E.Record.columns[keyPath: column].name, equals: value)
    }

    /// Deletes the rows whose property holds the raw value of a case, as one commit.
    ///
    /// - Returns: The number of deleted entities, not counting rows that foreign keys deleted or changed.
    /// - Throws: ``StorageError`` as ``Storage`` says.
    @_disfavoredOverload
    @discardableResult
    public func deleteAll<E: RegisteredEntity, Value: RawRepresentable>(
        _ type: E.Type, where column: KeyPath<E.Record.Columns, StorageColumn<Value>>, equals value: Value
    ) async throws -> Int where Value.RawValue: StorageColumnValue {
        try await deleteAll(type, where: E.Record.columns[keyPath: column].name, equals: value.rawValue)
    }

    /// Deletes the rows whose property holds the raw value of a case, or NULL if the value is nil, as one commit.
    ///
    /// - Returns: The number of deleted entities, not counting rows that foreign keys deleted or changed.
    /// - Throws: ``StorageError`` as ``Storage`` says.
    @_disfavoredOverload
    @discardableResult
    public func deleteAll<E: RegisteredEntity, Value: RawRepresentable>(
        _ type: E.Type, where column: KeyPath<E.Record.Columns, StorageColumn<Value?>>, equals value: Value?
    ) async throws -> Int where Value.RawValue: StorageColumnValue {
        try await deleteAll(type, where: E.Record.columns[keyPath: column].name, equals: value?.rawValue)
    }
}
