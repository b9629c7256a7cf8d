/// A type whose properties are query sources; the macro ``QuerySources()`` adds the conformance.
///
/// Providers are registered by type in a ``QuerySourceRegistry``, and their sources are referred to by key paths:
/// `\TaskSources.all`.
public protocol QuerySourceProvider: Sendable {
    /// The names of the properties that are sources, by their key paths. A source's state is stored under the type's
    /// name and this one, so that it is found again after a restart: `TaskSources.all`. Empty by default; a source that
    /// isn't listed is stored under its query.
    static var querySourceNames: [PartialKeyPath<Self>: String] { get }
}

extension QuerySourceProvider {
    /// An empty dictionary.
    public static var querySourceNames: [PartialKeyPath<Self>: String] { [:] }
}

/// Makes a struct a provider of query sources.
///
/// ```swift
/// @QuerySources
/// struct TaskSources {
///     let api: any TasksAPI
///
///     var all: QuerySource<Task> {
///         QuerySource(Task.all().order(by: .createdAt))
///             .remote { try await api.fetchAll() }
///             .cache(.staleWhileRevalidate(staleAfter: .minutes(5)))
///     }
///
///     var byPriority: (Int) -> QuerySource<Task> {
///         { priority in
///             QuerySource(Task.all().filter(Task.Columns.priority == priority))
///                 .remote { [api] in try await api.fetch(priority: priority) }
///                 .cache(.cacheFirst(ttl: .hours(1)))
///         }
///     }
/// }
/// ```
///
/// Each property whose written type is `QuerySource`, or a function of one parameter that returns it, is a source. Its
/// state is stored under the names of the enclosing types, the struct and the property, without modules:
/// `Task.Sources.all` for a struct inside `Task`. If one of them is renamed, the source counts as new and is fetched
/// again. Two structs with the same name declare the same sources, whichever modules or functions they are declared in.
@attached(extension, conformances: QuerySourceProvider, names: named(querySourceNames))
public macro QuerySources() = #externalMacro(module: "StorageMacros", type: "QuerySourcesMacro")

extension QuerySourceRegistry {
    /// Returns the source of a provider's property, under its name.
    ///
    /// - Throws: ``StorageError`` with `not-found` if the provider wasn't registered.
    public func source<Provider: QuerySourceProvider, Element>(
        _ path: KeyPath<Provider, QuerySource<Element>>
    ) throws -> QuerySource<Element> {
        try provider(Provider.self).source(path)
    }

    /// Returns the source that a provider's property creates from a parameter, under its name.
    ///
    /// - Throws: ``StorageError`` with `not-found` if the provider wasn't registered, `invalid-argument` if the
    ///   parameter can't be encoded.
    public func source<Provider: QuerySourceProvider, Element, Parameter: Encodable>(
        _ path: KeyPath<Provider, (Parameter) -> QuerySource<Element>>, _ parameter: Parameter
    ) throws -> QuerySource<Element> {
        try provider(Provider.self).source(path, parameter)
    }
}

extension QuerySourceProvider {
    /// Returns the source of a property, under its name: `sources.source(\.all)`. The property itself doesn't know its
    /// name, so its state would be stored under its query.
    public func source<Element>(_ path: KeyPath<Self, QuerySource<Element>>) -> QuerySource<Element> {
        let source = self[keyPath: path]
        return Self.name(of: path).map { source.named($0) } ?? source
    }

    /// Returns the source that a property creates from a parameter, under its name: `sources.source(\.byPriority, 2)`.
    ///
    /// - Throws: ``StorageError`` with `invalid-argument` if the parameter can't be encoded.
    public func source<Element, Parameter: Encodable>(
        _ path: KeyPath<Self, (Parameter) -> QuerySource<Element>>, _ parameter: Parameter
    ) throws -> QuerySource<Element> {
        let source = self[keyPath: path](parameter)
        let text = try SourceParameter.text(parameter)
        return Self.name(of: path).map { source.named($0, parameter: text) } ?? source
    }

    /// Nil if a hand-written provider has omitted it: Swift's description of a key path differs in each run.
    private static func name(of path: PartialKeyPath<Self>) -> String? {
        querySourceNames[path].map { "\(ProviderName.of(Self.self)).\($0)" }
    }
}
