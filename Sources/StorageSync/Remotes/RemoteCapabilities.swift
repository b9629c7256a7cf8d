/// What a remote service can do, so that an engine does by itself what it can't, and says so in ``SyncStatus/missingCapabilities``.
///
/// ```swift
/// extension ProductsService: RemoteCollectionService {
///     var capabilities: RemoteCapabilities { [.queries, .partialUpdates] }  // no stream of changes
/// }
/// ```
public struct RemoteCapabilities: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Streams report changes. Without: the engine reads no streams, and what others change is seen at the next `startListening`.
    public static let changeStreams = RemoteCapabilities(rawValue: 1 << 0)
    /// Streams of a collection report deletions. Without: what others delete is seen at the next `startListening`.
    public static let deletionStreams = RemoteCapabilities(rawValue: 1 << 1)
    /// `getDocuments(query:)` answers any query. Without: the engine fetches the collection and looks for the documents itself.
    public static let queries = RemoteCapabilities(rawValue: 1 << 2)
    /// `updateDocument` changes single fields. Without: the engine fetches the document and saves all of it, and what others change
    /// in between is overwritten.
    public static let partialUpdates = RemoteCapabilities(rawValue: 1 << 3)
    /// A write that is sent again with the key of ``RemoteWrite`` is taken once. Without: a write whose answer was lost may overwrite
    /// what others have written to the same fields meanwhile.
    public static let idempotencyKeys = RemoteCapabilities(rawValue: 1 << 4)
    /// A write that says so is refused with ``RemoteError/conflict(_:)`` where its document has changed since it was fetched last.
    /// Without: what others change in the milliseconds between that and the write is overwritten, field by field.
    public static let conditionalWrites = RemoteCapabilities(rawValue: 1 << 5)

    /// What services do that say nothing: all but ``idempotencyKeys`` and ``conditionalWrites``.
    public static let standard: RemoteCapabilities = [.changeStreams, .deletionStreams, .queries, .partialUpdates]

    /// What an engine of a collection makes use of.
    static let ofCollections: RemoteCapabilities = [.standard, .idempotencyKeys, .conditionalWrites]
    /// What an engine of single documents makes use of.
    static let ofDocuments: RemoteCapabilities = [
        .changeStreams, .partialUpdates, .idempotencyKeys, .conditionalWrites,
    ]

    private static let names: [(RemoteCapabilities, String)] = [
        (.changeStreams, "changeStreams"), (.deletionStreams, "deletionStreams"), (.queries, "queries"),
        (.partialUpdates, "partialUpdates"), (.idempotencyKeys, "idempotencyKeys"),
        (.conditionalWrites, "conditionalWrites"),
    ]
}

extension RemoteCapabilities: CustomStringConvertible {
    public var description: String {
        Self.names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}
