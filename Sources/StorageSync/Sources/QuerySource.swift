public import StorageEntities

/// A query of the store together with the remote that its rows come from: what to show, where to fetch it, how to merge
/// fetched rows, and when to fetch them again.
///
/// ```swift
/// let open = QuerySource(Task.all().filter(Task.Columns.isDone == false).order(by: .createdAt))
///     .remote { try await api.openTasks() }
///     .cache(.staleWhileRevalidate(staleAfter: .minutes(5)))
/// ```
///
/// A source is a value; ``PersistenceContainer`` shows its rows (`results(of:)`) and fetches them. Fetched rows are
/// saved in a commit whose actor is the source's name and whose reason is its policy, so the history says where a row
/// came from.
///
/// The time of the last fetch and its failure are stored beside the rows under the source's ``name`` and ``parameter``.
/// Sources of a ``QuerySources()`` struct that are referred to by key path are named after their property.
public struct QuerySource<Element: RegisteredEntity>: Sendable {
    /// The rows of the store to show.
    public let request: QueryRequest<Element>
    /// When the remote is asked; ``QueryCachePolicy/localOnly`` by default.
    public private(set) var cachePolicy = QueryCachePolicy.localOnly
    /// How rows are fetched and merged; nil if there is no remote.
    public private(set) var refreshAction: QueryRefreshAction<Element>?
    /// The name under which the source's state is stored; by default the SQL of the query. Two sources with the same
    /// name and parameter are fetched as one.
    public internal(set) var name: String
    /// The argument of a source with a parameter, as JSON; empty for a source without one.
    public internal(set) var parameter = ""

    /// Creates a source without a remote.
    ///
    /// - Parameter name: A name for a source that isn't a property of a ``QuerySources()`` struct.
    public init(_ request: QueryRequest<Element>, name: String? = nil) {
        self.request = request
        if let name {
            self.name = name
        } else {
            (self.name, parameter) = request.text
        }
    }

    /// Returns the source with a remote that returns all rows at once.
    ///
    /// - Parameters:
    ///   - merge: How to merge fetched rows, and whether to delete rows that the remote doesn't have.
    ///   - fetch: Requests the rows from the remote. If it throws, the error is shown, and the rows aren't changed.
    public func remote(
        merge: QueryMergeStrategy<Element> = .replace, fetch: @escaping @Sendable () async throws -> [Element]
    ) -> QuerySource<Element> {
        remote(.fromAPI(fetch: fetch, merge: merge))
    }

    /// Returns the source with a remote that answers page by page, or that can report that nothing has changed.
    public func remote(_ action: QueryRefreshAction<Element>) -> QuerySource<Element> {
        var source = self
        source.refreshAction = action
        return source
    }

    /// Returns the source with a cache policy.
    public func cache(_ policy: QueryCachePolicy) -> QuerySource<Element> {
        var source = self
        source.cachePolicy = policy
        return source
    }

    /// The effective policy: without a remote none is asked.
    var policy: QueryCachePolicy { refreshAction == nil ? .localOnly : cachePolicy }

    func named(_ name: String, parameter: String = "") -> QuerySource<Element> {
        var source = self
        source.name = name
        source.parameter = parameter
        return source
    }
}
