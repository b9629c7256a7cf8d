internal import StorageKit
internal import Synchronization

/// The providers of query sources, by type. A nested registry also finds the providers of the outer one, unless it has
/// its own of the same type.
///
/// ```swift
/// QuerySourceRegistry.shared.register(TaskSources(api: .live))
/// ```
///
/// For tests and single features, ``withQuerySources(_:_:)-(_,()->Result)`` creates a registry for the tasks inside it.
///
/// Isolation: `Sendable`; the providers are guarded by a lock.
public final class QuerySourceRegistry: Sendable {
    /// The program's registry.
    public static let shared = QuerySourceRegistry()
    /// The current task's registry; ``shared`` by default.
    @TaskLocal public static var current: QuerySourceRegistry = .shared

    private let parent: QuerySourceRegistry?
    private let providers = Mutex<[ObjectIdentifier: any QuerySourceProvider]>([:])

    /// Creates a registry.
    ///
    /// - Parameter parent: The registry that is searched for providers that aren't registered here.
    public init(parent: QuerySourceRegistry? = nil) { self.parent = parent }

    /// Registers a provider, replacing an earlier one of its type.
    public func register<Provider: QuerySourceProvider>(_ provider: Provider) {
        providers.withLock { $0[ObjectIdentifier(Provider.self)] = provider }
    }

    /// Returns the provider of a type; nil if none was registered here or in an outer registry.
    public func resolve<Provider: QuerySourceProvider>(_ type: Provider.Type) -> Provider? {
        let found = providers.withLock { $0[ObjectIdentifier(type)] } as? Provider
        return found ?? parent?.resolve(type)
    }

    /// - Throws: ``StorageError`` with `not-found` if the provider wasn't registered.
    func provider<Provider: QuerySourceProvider>(_ type: Provider.Type) throws -> Provider {
        guard let provider = resolve(type) else {
            throw StorageError(
                .notFound, "No \(ProviderName.of(type)) was registered.",
                remedy: "Register one with QuerySourceRegistry, or with querySources(_:) around the view.")
        }
        return provider
    }
}

/// Runs `operation` with a provider that is registered for it only, in addition to the outer ones.
public func withQuerySources<Provider: QuerySourceProvider, Result>(
    _ provider: Provider, _ operation: () throws -> Result
) rethrows -> Result {
    try QuerySourceRegistry.$current.withValue(.inside(provider), operation: operation)
}

/// Runs `operation` with a provider that is registered for it only, in addition to the outer ones.
public func withQuerySources<Provider: QuerySourceProvider, Result>(
    isolation: isolated (any Actor)? = #isolation, _ provider: Provider, _ operation: () async throws -> Result
) async rethrows -> Result {
    try await QuerySourceRegistry.$current.withValue(.inside(provider), operation: operation)
}

extension QuerySourceRegistry {
    fileprivate static func inside(_ provider: some QuerySourceProvider) -> QuerySourceRegistry {
        let registry = QuerySourceRegistry(parent: current)
        registry.register(provider)
        return registry
    }
}
