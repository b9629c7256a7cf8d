public import StorageEntities
internal import StorageKit
public import StorageSync
public import StorageViews

#if canImport(SwiftUI)
    public import SwiftUI
#endif

/// The rows of a query source, live and kept fresh, as a property.
///
/// ```swift
/// struct ChoreList: View {
///     @Query(\ChoreSources.all) var chores: [Chore]
///
///     var body: some View {
///         List(chores) { Text($0.title) }
///             .refreshable { await $chores.refresh() }
///             .overlay { if $chores.isStale { Text("May be out of date") } }
///     }
/// }
/// ```
///
/// The value is the rows; the projected value (`$chores`) is the ``QueryResults`` that keeps them up to date. The first
/// access finds the source and reads its rows. The source's provider and the store come from the view's environment
/// (`querySources(_:)`, `databaseContainer(_:)`) or, outside of views, from the task (`withQuerySources`,
/// `withDatabaseContainer`); if one is missing, there are no rows, and the projected value's `error` says which.
///
/// The store's own query type is also named `Query`. In a file that imports only `StorageUI`, which exports everything
/// else, the name refers to this type; in a file that imports only `StorageKit`, to the store's.
@MainActor @propertyWrapper
public struct Query<Element: RegisteredEntity> {
    @StateShim private var source: LazyResults<Element>
    #if canImport(SwiftUI)
        @Environment(\.querySourceRegistry) private var registry
        @Environment(\.persistenceContainer) private var container
    #endif

    private init(
        start: SubscriptionStart, _ resolve: @escaping @MainActor (QuerySourceRegistry) throws -> QuerySource<Element>
    ) {
        _source = StateShim(wrappedValue: LazyResults(start: start, resolve))
    }

    /// The rows of a provider's source.
    ///
    /// - Parameter start: Whether the stored rows are available on first access.
    public init<Provider: QuerySourceProvider>(
        _ path: KeyPath<Provider, QuerySource<Element>>, start: SubscriptionStart = .automatic
    ) {
        self.init(start: start) { try $0.source(path) }
    }

    /// The rows of a provider's source with a parameter.
    public init<Provider: QuerySourceProvider, Parameter: Encodable>(
        _ path: KeyPath<Provider, (Parameter) -> QuerySource<Element>>, param: Parameter,
        start: SubscriptionStart = .automatic
    ) {
        self.init(start: start) { try $0.source(path, param) }
    }

    /// The rows of a source that is created here.
    public init(_ source: QuerySource<Element>, start: SubscriptionStart = .automatic) {
        self.init(start: start) { _ in source }
    }

    /// The rows of a query, fetched from a remote.
    ///
    /// - Parameters:
    ///   - refresh: How the rows are fetched; nil if they are only in the store.
    ///   - start: Whether the stored rows are available on first access.
    public init(
        _ request: QueryRequest<Element>, cachePolicy: QueryCachePolicy = .localOnly,
        refresh: QueryRefreshAction<Element>? = nil, start: SubscriptionStart = .automatic
    ) {
        let source = QuerySource(request).cache(cachePolicy)
        self.init(refresh.map(source.remote) ?? source, start: start)
    }

    /// The rows, in the query's order.
    public var wrappedValue: [Element] { projectedValue.items }

    /// The results that keep the rows up to date.
    public var projectedValue: QueryResults<Element> {
        #if canImport(SwiftUI)
            source.results(registry, container)
        #else
            source.results(.current, .current)
        #endif
    }
}

#if canImport(SwiftUI)
    extension Query: DynamicProperty {}
#endif
