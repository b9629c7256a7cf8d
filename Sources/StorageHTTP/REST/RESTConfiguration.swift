#if STORAGE_HTTP
    public import Foundation
    internal import StorageSync

    /// How documents are read from and written to a REST service: by ``RESTRemoteCollectionService`` and
    /// ``RESTRemoteDocumentService``.
    ///
    /// ```swift
    /// var rest = RESTConfiguration("https://api.example.com/v1") { _ in ["Authorization": "Bearer \(await session.token)"] }
    /// rest.pagination = .cursor(field: "next", parameter: "after")
    /// rest.itemsField = "items"
    /// rest.pollingInterval = .seconds(30)
    /// ```
    ///
    /// What the defaults expect: documents of a collection at `BASE/COLLECTION`, as a JSON array, and each at `BASE/COLLECTION/ID`; `PUT`
    /// creates or replaces a document, `PATCH` merges fields into one (RFC 7396), `DELETE` deletes it.
    ///
    /// | Answer | To a write | To a read |
    /// |---|---|---|
    /// | 2xx | it is taken | what it holds |
    /// | 401 | asked once more with other headers, then ``RemoteError/unauthorized`` | the same |
    /// | 404, 410 | there is no document | the same |
    /// | 409, 412 | ``RemoteError/conflict(_:)``: fetched, and made on what the document is | tried again |
    /// | 408, 421, 425, 429, 5xx but 501 and 505 | sent again, not before `Retry-After` | tried again |
    /// | 3xx | 307 and 308 are followed within the origin, all else is tried again | followed, as ``HTTPRemote`` does |
    /// | all other | parked | tried again |
    ///
    /// No answer, a connection that ends too early, and a body that can't be read are tried again. A write whose head of an answer
    /// has come is taken or not by that, whatever becomes of the body.
    public struct RESTConfiguration: Sendable {
        /// An absolute URL with http or https, without a user and password. Paths of collections follow it.
        public var baseURL: String
        /// Header fields for each request, such as `Authorization`. They go to the base URL's scheme, host and port only.
        ///
        /// It gets whether the fields of before were just refused with 401: the request is made once more where it returns others then.
        /// What it throws ends the request: ``RemoteError/unauthorized`` where there are none.
        public var headers: @Sendable (_ wereRefused: Bool) async throws -> [String: String]
        /// Creates a document or replaces it.
        public var saveMethod = "PUT"
        /// Whether documents are saved at their collection's URL, as services with `POST` want it. Else at their own.
        public var savesAtCollection = false
        /// Changes fields of a document; null removes one. Nil where the service can't: then documents are fetched, changed and
        /// saved as a whole.
        public var updateMethod: String? = "PATCH"
        /// What the body of an update is called.
        public var updateContentType = "application/merge-patch+json"
        public var deleteMethod = "DELETE"
        /// The header field in which the service takes the key of a write, such as `Idempotency-Key`, and does once what comes twice with
        /// one key. Nil where it doesn't.
        public var idempotencyHeader: String?
        /// Whether the service heeds `If-Match` and `If-None-Match: *` with the entity tags (`ETag`) that it gives documents. Then writes that
        /// expect something of their documents can't overwrite anything.
        public var usesEntityTags = false
        public var pagination = RESTPagination.link
        /// The path of the array of documents in a page: keys with dots between them. Nil where the page is the array.
        public var itemsField: String?
        /// How queries are written in a URL. Nil where the service answers none: then the engine fetches the
        /// collection and looks itself.
        public var queryMapping: RESTQueryMapping?
        /// How often streams ask whether something has changed, each time with the entity tag of the last answer. Nil for never: what others
        /// change is seen at the next `startListening` then.
        public var pollingInterval: Duration?
        /// The path of a document behind the base URL. `COLLECTION/ID` unless set, with the id percent-encoded.
        public var documentPath: @Sendable (_ collection: String, _ id: String) -> String
        /// What is said of a write that is parked, made of the body of the answer. Unless set, it is the status alone: bodies may hold
        /// what isn't for everybody's eyes.
        public var rejectionReason: (@Sendable (_ status: Int, _ body: Data) -> String?)?
        /// How long a request may take, to the last byte.
        public var timeout = Duration.seconds(30)
        /// How long the body of an answer may be, in bytes; that of a page where there are several.
        public var maximumBytes = 16 << 20
        /// The connections.
        public var client = HTTPRemoteClient.shared

        /// - Parameters:
        ///   - baseURL: See ``baseURL``.
        ///   - headers: See ``headers``. None unless given.
        public init(
            _ baseURL: String,
            headers: @escaping @Sendable (_ wereRefused: Bool) async throws -> [String: String] = { _ in [:] }
        ) {
            self.baseURL = baseURL
            self.headers = headers
            documentPath = { collection, id in "\(collection)/\(PercentCoding.encoded(id))" }
        }

        /// What a service that is configured like this can do.
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
