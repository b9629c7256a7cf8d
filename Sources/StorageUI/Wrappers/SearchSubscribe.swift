public import Foundation
public import StorageEntities
public import StorageKit
public import StorageViews

#if canImport(SwiftUI)
    public import SwiftUI
#endif

/// The live results of a search, as a property.
///
/// ```swift
/// @SearchSubscribe(repository: users, searchFields: ["name", "email"]) var found
///
/// List(found) { Text($0.name) }.searchable(text: $found.text)
/// ```
///
/// The value is the rows that were found; the projected value (`$found`) is the ``SearchSubscription`` whose text you
/// set. It has the same lifetime as a ``QuerySubscribe``.
@MainActor @propertyWrapper
public struct SearchSubscribe<Entity: RegisteredEntity> {
    @StateShim private var source: LazySubscription<SearchSubscription<Entity>>

    /// A search among the rows that a query finds.
    public init(
        _ query: some SubscribableQuery<Entity>, configuration: SearchSubscription<Entity>.Configuration
    ) {
        _source = StateShim(wrappedValue: LazySubscription { SearchSubscription(query, configuration: configuration) })
    }

    /// A search among a repository's rows.
    public init(repository: some StorageRepository<Entity>, configuration: SearchSubscription<Entity>.Configuration) {
        self.init(repository.query(), configuration: configuration)
    }

    /// A search in columns of a repository's rows.
    ///
    /// - Parameter debounceInterval: How long the text must be unchanged, in seconds, before it is searched for.
    public init(
        repository: some StorageRepository<Entity>, searchFields: [String], debounceInterval: TimeInterval = 0.3
    ) {
        self.init(
            repository: repository,
            configuration: .init(searchFields: searchFields, debounceInterval: debounceInterval))
    }

    /// The rows that were found.
    public var wrappedValue: [Entity] { source.subscription.results }
    /// The subscription whose text you set.
    public var projectedValue: SearchSubscription<Entity> { source.subscription }
}

#if canImport(SwiftUI)
    extension SearchSubscribe: DynamicProperty {}
#endif
