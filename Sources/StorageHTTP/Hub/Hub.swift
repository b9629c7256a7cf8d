#if STORAGE_HTTP
    internal import Foundation
    internal import StorageCore
    public import StorageSync

    /// A hub that is served by `storagekit serve` or a `HubServer`, for sync engines.
    ///
    /// ```swift
    /// let hub = try Hub("https://hub.example", token: token)
    /// let products = CollectionSyncEngine<Product>(
    ///     remote: hub.collection("products"), managerKey: "products")
    /// await products.startListening()
    /// ```
    ///
    /// An engine on a hub sends its writes in numbered batches, which are applied once however often they are sent, and
    /// resumes following the collection where it left off. Once it has listened, it keeps the whole collection, as far
    /// as the token may read it.
    ///
    /// Isolation: `Sendable`.
    public struct Hub: Sendable {
        let remote: HTTPHubClient

        /// Creates a hub whose token may change.
        ///
        /// - Parameters:
        ///   - url: The hub's address; the protocol's paths are appended to it.
        ///   - client: The connections, with TLS and proxy settings.
        ///   - token: Returns the token, or nil while no user is signed in; called before each request. If the hub
        ///     rejects a token, engines wait for another one, until `retryNow()` or the next use. A call that takes
        ///     longer than 30 seconds is cancelled and abandoned: the request fails, and is retried with another call.
        /// - Throws: `StorageError` with `invalid-argument` for anything but an http or https URL without user, query
        ///   and fragment.
        public init(
            _ url: String, client: HTTPRemoteClient = .shared, token: @escaping @Sendable () async throws -> String?
        ) throws {
            guard let parts = URLComponents(string: url), ["http", "https"].contains(parts.scheme?.lowercased()),
                parts.host?.isEmpty == false, parts.user == nil, parts.query == nil, parts.fragment == nil
            else {
                throw StorageError(
                    .invalidArgument, "\(url.debugDescription) isn't the address of a hub.",
                    remedy: "Write it like https://hub.example, without user, query and fragment.")
            }
            remote = HTTPHubClient(url: url.hasSuffix("/") ? url : url + "/", token: token, client: client)
        }

        /// Creates a hub with a fixed token.
        ///
        /// - Parameter token: The text shown by `storagekit tokens create`.
        /// - Throws: `StorageError` with `invalid-argument` for anything but an http or https URL without user, query
        ///   and fragment.
        public init(_ url: String, client: HTTPRemoteClient = .shared, token: String) throws {
            try self.init(url, client: client) { token }
        }

        /// Returns a collection of the hub, as the remote of an engine.
        ///
        /// - Parameters:
        ///   - name: The entity's name at the hub.
        ///   - account: The account on this device: documents stored by one account aren't shown to another. Nil while
        ///     no user is signed in; nothing is read or sent then.
        @MainActor public func collection<T: DataSyncModelProtocol>(
            _ name: String, of type: T.Type = T.self, account: @escaping @MainActor @Sendable () -> String? = { "" }
        ) -> HubCollection<T> { HubCollection(name, of: remote, account: account) }
    }
#endif
