public import StorageCore
public import StorageEntities
public import StorageLog

/// Access to the rows of one entity, for code that uses dependency injection.
///
/// ```swift
/// func rename(_ id: String, in users: some StorageRepository<User>) async throws {
///     guard var user = try await users.get(id: id) else { return }
///     user.name = "Anna"
///     try await users.put(user)
/// }
/// try await rename("1", in: storage.repository(User.self))
/// ```
///
/// Entities that ``get(id:policy:)`` reads are kept in memory until they expire or their row changes, by whatever path. Nothing
/// is kept if another process writes to the store. Entities aren't also cached on disk: the copy would be in the same file as
/// their table, and could only be older.
///
/// Two implementations work the same way: ``GenericRepository``, and ``AnyRepository``, whose type hides the record.
///
/// Isolation: `Sendable`, a reference to the open store.
public protocol StorageRepository<E>: Sendable {
    associatedtype E: RegisteredEntity

    /// The store that the rows are in.
    var storage: Storage { get }
}

extension StorageRepository {
    /// The same repository as a type that hides its record.
    public var erased: AnyRepository<E> { AnyRepository(storage: storage) }

    /// Returns the entity with this id, or nil if there is none.
    ///
    /// - Throws: ``StorageError`` as ``Storage`` says.
    public func get(id: E.Id, policy: ReadPolicy = .localFirst) async throws -> E? {
        let engine = storage.engine
        guard !engine.configuration.isReadOnly else {
            return policy == .memoryOnly ? nil : try await storage.get(E.self, id: id)
        }
        let cache = storage.caches.of(E.self, in: engine)
        if policy == .localFirst || policy == .memoryOnly {
            if let entity = cache.get(id) { return entity }
            if policy == .memoryOnly { return nil }
        }
        let mark = cache.version
        let entity = try await storage.get(E.self, id: id)
        if let entity, policy != .uncached { cache.keep(entity, readAfter: mark) }
        return entity
    }

    /// Inserts or updates an entity.
    ///
    /// - Throws: ``StorageError`` as ``Storage`` says.
    public func put(_ entity: E) async throws { try await storage.save(entity) }

    /// Inserts or updates entities as one commit.
    ///
    /// ```swift
    /// try await users.putAll([anna, ben])
    /// ```
    ///
    /// - Throws: ``StorageError`` as ``Storage`` says.
    public func putAll(_ entities: [E]) async throws { try await storage.save(entities) }

    /// Deletes the entity with this id; does nothing if there is none.
    ///
    /// - Throws: ``StorageError`` as ``Storage`` says.
    public func delete(id: E.Id) async throws { try await storage.delete(E.self, id: id) }

    /// Returns every entity, in the order of a column, or of the key if none is named.
    ///
    /// ```swift
    /// let all = try await users.getAll(orderBy: "name")
    /// ```
    ///
    /// - Throws: ``StorageError`` with `invalid-name` for a column that the entity doesn't have; also as ``Storage``
    ///   says.
    public func getAll(orderBy: String? = nil, ascending: Bool = true) async throws -> [E] {
        try await storage.all(E.self, orderBy: orderBy, ascending: ascending)
    }

    /// Returns the entities whose column holds a value.
    ///
    /// ```swift
    /// let active = try await users.getAll(where: "isActive", equals: true, orderBy: "name")
    /// ```
    ///
    /// - Throws: ``StorageError`` with `invalid-name` for a column that the entity doesn't have; also as ``Storage``
    ///   says.
    public func getAll<Value: StorageColumnValue>(
        where column: String, equals value: Value, orderBy: String? = nil, ascending: Bool = true
    ) async throws -> [E] {
        try await storage.loadChildren(E.self, where: column, equals: value, orderBy: orderBy, ascending: ascending)
    }

    /// Returns the number of entities.
    ///
    /// ```swift
    /// let count = try await users.countAll()
    /// ```
    ///
    /// - Throws: ``StorageError`` as ``Storage`` says.
    public func countAll() async throws -> Int { try await storage.count(E.self) }

    /// Deletes every entity, as one commit.
    ///
    /// - Returns: The number of deleted entities, not counting rows that foreign keys deleted or changed.
    /// - Throws: ``StorageError`` as ``Storage`` says.
    @discardableResult public func deleteAll() async throws -> Int { try await storage.deleteAll(E.self) }

    /// Deletes the entities whose column holds a value, as one commit.
    ///
    /// - Returns: The number of deleted entities, not counting rows that foreign keys deleted or changed.
    /// - Throws: ``StorageError`` with `invalid-name` for a column that the entity doesn't have; also as ``Storage``
    ///   says.
    @discardableResult
    public func deleteAll<Value: StorageColumnValue>(where column: String, equals value: Value) async throws -> Int {
        try await storage.deleteAll(E.self, where: column, equals: value)
    }

    /// Returns a page of entities by offset. To page through rows that change, use ``FetchableQuery/page(after:size:)``.
    ///
    /// ```swift
    /// let page = try await users.getPage(orderBy: "name", limit: 20, offset: 40)
    /// ```
    ///
    /// - Throws: ``StorageError`` with `invalid-argument` for a negative limit or offset, `invalid-name` for a column
    ///   that the entity doesn't have; also as ``Storage`` says.
    public func getPage(
        orderBy: String? = nil, ascending: Bool = true, limit: Int, offset: Int = 0
    ) async throws -> RepoPage<E> {
        try await storage.page(E.self, orderBy: orderBy, ascending: ascending, limit: limit, offset: offset)
    }
}

/// The repository of an entity and its record.
///
/// ```swift
/// let users: GenericRepository = storage.repository(User.self)
/// let anna = try await users.get(id: "1")
/// ```
public struct GenericRepository<E, R: StorageKitEntityRecord>: StorageRepository
where E: RegisteredEntity, E.Record == R {
    /// The store that holds the rows.
    public let storage: Storage
}

/// A repository whose type hides how its entities are stored, to be injected into services.
///
/// ```swift
/// let users: AnyRepository<User> = storage.anyRepository(User.self)
/// let anna = try await users.get(id: "1")
/// ```
public struct AnyRepository<E: RegisteredEntity>: StorageRepository {
    /// The store that holds the rows.
    public let storage: Storage
}

extension Storage {
    /// Returns the repository of an entity.
    ///
    /// ```swift
    /// let users = storage.repository(User.self)
    /// let anna = try await users.get(id: "1")
    /// ```
    public func repository<E: RegisteredEntity>(_ type: E.Type) -> GenericRepository<E, E.Record> {
        GenericRepository(storage: self)
    }

    /// Returns the repository of an entity as a type that hides its record.
    ///
    /// ```swift
    /// let service = UserService(users: storage.anyRepository(User.self))
    /// ```
    public func anyRepository<E: RegisteredEntity>(_ type: E.Type) -> AnyRepository<E> { repository(type).erased }
}
