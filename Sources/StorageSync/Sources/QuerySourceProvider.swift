internal import StorageProjections

/// A type whose properties are query sources; ``QuerySources()`` writes the conformance.
///
/// Providers are registered by type in a ``QuerySourceRegistry``, and their sources named by key paths: `\TaskSources.all`.
public protocol QuerySourceProvider: Sendable {
    /// The names of the properties that are sources, by their key paths. A source's state is stored under the type's name and this
    /// one, so that it is found again after a restart.
    static var querySourceNames: [PartialKeyPath<Self>: String] { get }
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
/// Each property whose written type is `QuerySource`, or a function of one parameter to it, is a source. The name under which a
/// source's state is stored is that of the type and the property: renaming either makes it a new source, which is fetched again.
@attached(extension, conformances: QuerySourceProvider, names: named(querySourceNames))
public macro QuerySources() = #externalMacro(module: "StorageMacros", type: "QuerySourcesMacro")

extension QuerySourceRegistry {
    /// The source of a provider's property, under its name.
    ///
    /// - Throws: ``StorageError`` with `not-found` where the provider wasn't registered.
    public func source<Provider: QuerySourceProvider, Element>(
        _ path: KeyPath<Provider, QuerySource<Element>>
    ) throws -> QuerySource<Element> {
        try provider(Provider.self).source(path)
    }

    /// The source that a provider's property makes of a parameter, under its name.
    ///
    /// - Throws: ``StorageError`` with `not-found` where the provider wasn't registered, `misuse` where the parameter can't be encoded.
    public func source<Provider: QuerySourceProvider, Element, Parameter: Encodable>(
        _ path: KeyPath<Provider, (Parameter) -> QuerySource<Element>>, _ parameter: Parameter
    ) throws -> QuerySource<Element> {
        try provider(Provider.self).source(path, parameter)
    }
}

extension QuerySourceProvider {
    /// The source of a property, under its name: `sources.source(\.all)`. The property alone has no name of its own, so its state is
    /// stored under its query.
    public func source<Element>(_ path: KeyPath<Self, QuerySource<Element>>) -> QuerySource<Element> {
        self[keyPath: path].named(Self.name(of: path))
    }

    /// The source that a property makes of a parameter, under its name: `sources.source(\.byPriority, 2)`.
    ///
    /// - Throws: ``StorageError`` with `misuse` where the parameter can't be encoded.
    public func source<Element, Parameter: Encodable>(
        _ path: KeyPath<Self, (Parameter) -> QuerySource<Element>>, _ parameter: Parameter
    ) throws -> QuerySource<Element> {
        self[keyPath: path](parameter).named(Self.name(of: path), parameter: try SourceParameter.text(parameter))
    }

    private static func name(of path: PartialKeyPath<Self>) -> String {
        // A provider written by hand may have left it out; then what Swift makes of the path has to do.
        "\(Self.self).\(querySourceNames[path] ?? "\(path)")"
    }
}
