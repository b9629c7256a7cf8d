#if STORAGE_HTTP
    import StorageSync
    import Testing

    @testable import StorageHTTP

    /// Requests to a hub are those of the account for which they were meant.
    @Suite struct HubAccountTests {
        /// Somebody else signs in while the token is asked for: nothing is sent, so nobody need listen at the address.
        @Test("Nothing is sent with another account's token")
        func tokenOfAnotherAccount() async throws {
            let hub = HTTPHubClient(url: "http://127.0.0.1:9/", token: { "berta's" }, client: .shared)
            await #expect(throws: RemoteError.unauthorized) {
                try await RemotePathCheck.$current.withValue(RemotePathCheck { throw RemoteError.unauthorized }) {
                    try await hub.hello(from: ProducerID("anna's"), epoch: 1, as: .full)
                }
            }
            await #expect(throws: SyncFailure.self) { try await hub.hello(from: ProducerID("a"), epoch: 1, as: .full) }
        }
    }
#endif
