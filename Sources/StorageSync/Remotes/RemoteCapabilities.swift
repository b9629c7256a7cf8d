/// What a remote service can do. An engine compensates for missing capabilities, and reports them in
/// ``SyncStatus/missingCapabilities``.
///
/// ```swift
/// extension ProductsService: RemoteCollectionService {
///     var capabilities: RemoteCapabilities { [.queries, .partialUpdates] }  // no stream of changes
/// }
/// ```
public struct RemoteCapabilities: OptionSet, Sendable, Hashable {
    /// A bit for each capability.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Streams report changes. Without it, the engine reads no streams, and changes by others become visible at the
    /// next `startListening`.
    public static let changeStreams = RemoteCapabilities(rawValue: 1 << 0)
    /// Streams of a collection report deletions. Without it, deletions by others become visible at the next
    /// `startListening`.
    public static let deletionStreams = RemoteCapabilities(rawValue: 1 << 1)
    /// `getDocuments(query:)` answers any query. Without it, the engine fetches the collection and filters the
    /// documents itself.
    public static let queries = RemoteCapabilities(rawValue: 1 << 2)
    /// `updateDocument` changes single fields. Without it, the engine fetches the document and saves all of it, and
    /// changes by others in between are overwritten.
    public static let partialUpdates = RemoteCapabilities(rawValue: 1 << 3)
    /// A write that is sent again with the key of ``RemoteWrite`` is applied once. Without it, a write whose answer was
    /// lost may overwrite what others have written to the same fields meanwhile.
    public static let idempotencyKeys = RemoteCapabilities(rawValue: 1 << 4)
    /// A conditional write is refused with ``RemoteError/conflict(_:)`` if its document has changed since it was last
    /// fetched. Without it, changes by others in the milliseconds between the fetch and the write are overwritten,
    /// field by field.
    public static let conditionalWrites = RemoteCapabilities(rawValue: 1 << 5)

    /// The default capabilities of a service: all but ``idempotencyKeys`` and ``conditionalWrites``.
    public static let standard: RemoteCapabilities = [.changeStreams, .deletionStreams, .queries, .partialUpdates]

    /// The capabilities that an engine of a collection uses.
    static let ofCollections: RemoteCapabilities = [.standard, .idempotencyKeys, .conditionalWrites]
    /// The capabilities that an engine of single documents uses.
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
