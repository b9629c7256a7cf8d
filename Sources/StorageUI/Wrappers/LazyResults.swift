internal import StorageEntities
internal import StorageKit
internal import StorageSync
internal import StorageViews

/// Finds a source on first access, and shows it after that. If it can't be found, the next access looks again: its provider may be registered by
/// then.
@MainActor
final class LazyResults<Element: RegisteredEntity> {
    private let resolve: @MainActor (QuerySourceRegistry) throws -> QuerySource<Element>
    private let start: SubscriptionStart
    private var found: QueryResults<Element>?

    init(
        start: SubscriptionStart, _ resolve: @escaping @MainActor (QuerySourceRegistry) throws -> QuerySource<Element>
    ) {
        self.start = start
        self.resolve = resolve
    }

    func results(_ registry: QuerySourceRegistry, _ container: PersistenceContainer?) -> QueryResults<Element> {
        if let found { return found }
        let results = QueryResults(in: container, start: start) { try resolve(registry) }
        if !results.isMissing { found = results }
        return results
    }
}
