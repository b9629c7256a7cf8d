#if canImport(SwiftUI)
    public import StorageSync
    public import SwiftUI

    extension EnvironmentValues {
        /// The registry of providers in which `@Query` finds its sources.
        public var querySourceRegistry: QuerySourceRegistry {
            get { self[QuerySourceRegistryKey.self] ?? .current }
            set { self[QuerySourceRegistryKey.self] = newValue }
        }

        /// The store that `@Query` reads.
        public var persistenceContainer: PersistenceContainer? {
            get { self[PersistenceContainerKey.self] ?? .current }
            set { self[PersistenceContainerKey.self] = newValue }
        }
    }

    private struct QuerySourceRegistryKey: EnvironmentKey {
        static let defaultValue: QuerySourceRegistry? = nil
    }

    private struct PersistenceContainerKey: EnvironmentKey {
        static let defaultValue: PersistenceContainer? = nil
    }

    extension View {
        /// Sets the store for the queries inside this view.
        public func databaseContainer(_ container: PersistenceContainer) -> some View {
            environment(\.persistenceContainer, container)
        }

        /// The same as ``databaseContainer(_:)``: a container always coordinates the requests of its sources.
        public func enableQueryCoordination(container: PersistenceContainer) -> some View {
            databaseContainer(container)
        }

        /// Sets a provider of query sources for the queries inside this view, replacing an outer one of its type.
        public func querySources(_ provider: some QuerySourceProvider) -> some View {
            transformEnvironment(\.querySourceRegistry) { registry in
                let inner = QuerySourceRegistry(parent: registry)
                inner.register(provider)
                registry = inner
            }
        }
    }
#endif
