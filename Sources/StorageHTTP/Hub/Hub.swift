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
    /// try await products.startListening()
    /// ```
    ///
    /// An engine on a hub sends its writes in numbered batches, which are applied once however often they are sent, and follows the
    /// collection from where it was. It keeps the whole collection, as far as the token may read it, once it has listened.
    ///
    /// Isolation: `Sendable`.
    public struct Hub: Sendable {
        let remote: HTTPHub

        /// - Parameters:
        ///   - url: The hub's address; paths of the protocol follow behind it.
        ///   - client: The connections, with TLS and proxy.
        ///   - token: Asked before each request; nil while nobody is signed in. Where the hub doesn't accept a token,
        ///     engines wait for another one: `retryNow()`, or the next use.
        /// - Throws: `invalid-argument` for anything but an http or https URL without user, query and fragment.
        public init(
            _ url: String, client: HTTPRemoteClient = .shared, token: @escaping @Sendable () async throws -> String?
        ) throws {
            guard let parts = URLComponents(string: url), ["http", "https"].contains(parts.scheme?.lowercased()),
                parts.host?.isEmpty == false, parts.user == nil, parts.query == nil, parts.fragment == nil
            else {
                throw StorageError(
                    .invalidArgument, "\(url.debugDescription) is no address of a hub.",
                    remedy: "Write it like https://hub.example, without user, query and fragment.")
            }
            remote = HTTPHub(url: url.hasSuffix("/") ? url : url + "/", token: token, client: client)
        }

        /// - Parameter token: As `storagekit tokens create` shows it.
        public init(_ url: String, client: HTTPRemoteClient = .shared, token: String) throws {
            try self.init(url, client: client) { token }
        }

        /// A collection of the hub, as the remote of an engine.
        ///
        /// - Parameters:
        ///   - name: Its entity there.
        ///   - account: Whose it is on this device: what one account has stored here isn't shown to another. Nil while nobody is signed
        ///     in; nothing is read or sent then.
        @MainActor public func collection<T: DataSyncModelProtocol>(
            _ name: String, of type: T.Type = T.self, account: @escaping @MainActor @Sendable () -> String? = { "" }
        ) -> HubCollection<T> { HubCollection(name, of: remote, account: account) }
    }
#endif
