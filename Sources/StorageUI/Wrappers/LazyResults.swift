internal import StorageEntities
internal import StorageKit
internal import StorageSync

/// Finds a source on first access, and shows it from then on. If it can't be found, the next access looks again: its provider may be registered by
/// then.
@MainActor
final class LazyResults<Element: RegisteredEntity> {
    private let resolve: @MainActor (QuerySourceRegistry) throws -> QuerySource<Element>
    private var found: QueryResults<Element>?

    init(_ resolve: @escaping @MainActor (QuerySourceRegistry) throws -> QuerySource<Element>) {
        self.resolve = resolve
    }

    func results(_ registry: QuerySourceRegistry, _ container: PersistenceContainer?) -> QueryResults<Element> {
        if let found { return found }
        let results = QueryResults(in: container) { try resolve(registry) }
        if !results.isMissing { found = results }
        return results
    }
}
