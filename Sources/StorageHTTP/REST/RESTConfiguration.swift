#if STORAGE_HTTP
    public import Foundation
    internal import StorageSync

    /// How documents are read from and written to a REST service by ``RESTRemoteCollectionService`` and
    /// ``RESTRemoteDocumentService``.
    ///
    /// ```swift
    /// var rest = RESTConfiguration("https://api.example.com/v1") { _ in
    ///     ["Authorization": "Bearer \(await session.token)"]
    /// }
    /// rest.pagination = .cursor(field: "next", parameter: "after")
    /// rest.itemsField = "items"
    /// rest.pollingInterval = .seconds(30)
    /// ```
    ///
    /// By default, the documents of a collection are at `BASE/COLLECTION` as a JSON array, and each at
    /// `BASE/COLLECTION/ID`; `PUT` creates or replaces a document, `PATCH` merges fields into one (RFC 7396), `DELETE`
    /// deletes it.
    ///
    /// | Answer | To a write | To a read |
    /// |---|---|---|
    /// | 2xx | accepted | the content |
    /// | 401 | repeated once with other headers, then ``RemoteError/unauthorized`` | the same |
    /// | 404, 410 | there is no document | the same |
    /// | 409, 412 | ``RemoteError/conflict(_:)``: the document is fetched and the write rebased | retried |
    /// | 408, 421, 425, 429, 5xx but 501 and 505 | sent again, not before `Retry-After` | retried |
    /// | 3xx | 307 and 308 are followed within the origin, all others are retried | followed, as ``HTTPRemote`` does |
    /// | all others | parked | retried |
    ///
    /// Requests without an answer, connections that end early, and unreadable bodies are retried. Once the head of an
    /// answer to a write has arrived, its status decides, whatever happens to the body.
    public struct RESTConfiguration: Sendable {
        /// An absolute http or https URL without user and password. Paths of collections are appended to it.
        public var baseURL: String
        /// Header fields for each request, such as `Authorization`. They are sent only to the base URL's scheme, host
        /// and port.
        ///
        /// The argument says whether the previous fields were just refused with 401; if the closure then returns
        /// others, the request is repeated once. Throw ``RemoteError/unauthorized`` if there are no credentials. A call
        /// that takes longer than ``timeout`` is cancelled and abandoned, which also ends the request.
        ///
        /// - Throws: Any error, which ends the request.
        public var headers: @Sendable (_ wereRefused: Bool) async throws -> [String: String]
        /// The method that creates or replaces a document.
        public var saveMethod = "PUT"
        /// Whether documents are saved at their collection's URL, as services with `POST` expect, instead of their own.
        public var savesAtCollection = false
        /// The method that changes fields of a document; a field set to null is removed. Nil if the service can't
        /// change fields: documents are then fetched, changed and saved as a whole.
        public var updateMethod: String? = "PATCH"
        /// The content type of an update.
        public var updateContentType = "application/merge-patch+json"
        /// The method that deletes a document.
        public var deleteMethod = "DELETE"
        /// The header field for the key of a write, such as `Idempotency-Key`, for a service that applies repeated
        /// writes with the same key only once. Nil for any other service.
        public var idempotencyHeader: String?
        /// Whether the service supports `If-Match` and `If-None-Match: *` with its documents' entity tags (`ETag`).
        /// Writes with a precondition then can't overwrite changes by others.
        public var usesEntityTags = false
        /// How the pages of a collection refer to one another.
        public var pagination = RESTPagination.link
        /// The path of the array of documents in a page: keys separated by dots. Nil if the page itself is the array.
        public var itemsField: String?
        /// How queries are written in a URL. Nil if the service doesn't support queries: the engine then fetches the
        /// collection and filters it.
        public var queryMapping: RESTQueryMapping?
        /// How often streams poll for changes, each time with the last answer's entity tag. Nil for never: changes by
        /// others then become visible at the next `startListening`.
        public var pollingInterval: Duration?
        /// The path of a document relative to the base URL. `COLLECTION/ID` by default, with the id percent-encoded.
        public var documentPath: @Sendable (_ collection: String, _ id: String) -> String
        /// The reason shown for a parked write, derived from the body of the answer. By default, it is only the status,
        /// since bodies may contain confidential data.
        public var rejectionReason: (@Sendable (_ status: Int, _ body: Data) -> String?)?
        /// The time limit of a request, from the return of ``headers`` to the last byte.
        public var timeout = Duration.seconds(30)
        /// The maximum size of an answer's body, in bytes; if there are several pages, of each page.
        public var maximumBytes = 16 << 20
        /// The connections.
        public var client = HTTPRemoteClient.shared

        /// Creates a configuration.
        ///
        /// - Parameters:
        ///   - baseURL: See ``baseURL``.
        ///   - headers: See ``headers``. None by default.
        public init(
            _ baseURL: String,
            headers: @escaping @Sendable (_ wereRefused: Bool) async throws -> [String: String] = { _ in [:] }
        ) {
            self.baseURL = baseURL
            self.headers = headers
            documentPath = { collection, id in "\(collection)/\(PercentCoding.encoded(id))" }
        }

        /// The capabilities of a service with this configuration.
        var capabilities: RemoteCapabilities {
            var capabilities: RemoteCapabilities = []
            if pollingInterval != nil { capabilities.formUnion([.changeStreams, .deletionStreams]) }
            if queryMapping != nil { capabilities.insert(.queries) }
            if updateMethod != nil { capabilities.insert(.partialUpdates) }
            if idempotencyHeader != nil { capabilities.insert(.idempotencyKeys) }
            if usesEntityTags { capabilities.insert(.conditionalWrites) }
            return capabilities
        }
    }
#endif
