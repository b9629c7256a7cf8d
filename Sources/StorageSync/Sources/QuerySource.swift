public import StorageEntities

/// A query of the store together with the remote that its rows come from: what is shown, where it is fetched, how fetched rows
/// are merged, and when they are fetched again.
///
/// ```swift
/// let open = QuerySource(Task.all().filter(Task.Columns.isDone == false).order(by: .createdAt))
///     .remote { try await api.openTasks() }
///     .cache(.staleWhileRevalidate(staleAfter: .minutes(5)))
/// ```
///
/// A value; ``PersistenceContainer`` shows its rows (``PersistenceContainer/results(of:)``) and fetches them. Fetched rows are a commit
/// whose actor is the source's name and whose reason is its policy, so the history says where a row came from.
///
/// When rows were fetched last, and what went wrong, is stored beside them under the source's ``name`` and ``parameter``. Sources of
/// a ``QuerySources()`` struct are named after their property where they are named by its key path.
public struct QuerySource<Element: RegisteredEntity>: Sendable {
    /// Which rows of the store it shows.
    public let request: QueryRequest<Element>
    /// When the remote is asked; ``QueryCachePolicy/localOnly`` where nothing else was said.
    public private(set) var cachePolicy = QueryCachePolicy.localOnly
    /// How rows are fetched and merged; nil where there is no remote.
    public private(set) var refreshAction: QueryRefreshAction<Element>?
    /// What its state is stored under: two sources of one name and parameter are fetched as one. Where none was given, the SQL of
    /// the query.
    public internal(set) var name: String
    /// What was given to a source with a parameter, as JSON; empty for one without.
    public internal(set) var parameter = ""

    /// A source without a remote.
    ///
    /// - Parameter name: A name of your own for a source that isn't a property of a ``QuerySources()`` struct.
    public init(_ request: QueryRequest<Element>, name: String? = nil) {
        self.request = request
        if let name {
            self.name = name
        } else {
            (self.name, parameter) = request.text
        }
    }

    /// The source with a remote that answers all rows at once.
    ///
    /// - Parameters:
    ///   - merge: What becomes of fetched rows, and of rows that the remote doesn't have.
    ///   - fetch: Asks the remote. What it throws is shown as the error, and the rows stay as they are.
    public func remote(
        merge: QueryMergeStrategy<Element> = .replace, fetch: @escaping @Sendable () async throws -> [Element]
    ) -> QuerySource<Element> {
        remote(.fromAPI(fetch: fetch, merge: merge))
    }

    /// The source with a remote that answers page by page, or that can say that nothing has changed.
    public func remote(_ action: QueryRefreshAction<Element>) -> QuerySource<Element> {
        var source = self
        source.refreshAction = action
        return source
    }

    /// The source with a policy.
    public func cache(_ policy: QueryCachePolicy) -> QuerySource<Element> {
        var source = self
        source.cachePolicy = policy
        return source
    }

    /// The policy that counts: without a remote none is asked.
    var policy: QueryCachePolicy { refreshAction == nil ? .localOnly : cachePolicy }

    func named(_ name: String, parameter: String = "") -> QuerySource<Element> {
        var source = self
        source.name = name
        source.parameter = parameter
        return source
    }
}
