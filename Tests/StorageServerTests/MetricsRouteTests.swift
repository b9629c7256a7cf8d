#if STORAGE_SERVER
    import NIOHTTP1
    import StorageKit
    import StorageServer
    import TestSupport
    import Testing

    /// `/metrics` of a hub.
    @Suite struct MetricsRouteTests {
        @Test("Metrics are for tokens that administer, and fit Prometheus' grammar")
        func metrics() async throws {
            try await ServedHub.run { hub in
                let (token, full) = (try await hub.token(), try await hub.token("ops", administers: true))
                _ = try await hub.send(
                    .PUT, "/v1/collections/notes/documents/1", token: full, body: #"{"text":"a"}"#)
                #expect(try await hub.send(.GET, "/metrics", token: token).code == "forbidden")
                #expect(try await hub.send(.GET, "/metrics", token: nil).code == "unauthorized")
                let metrics = PrometheusSamples(try await hub.send(.GET, "/metrics", token: full).body)
                #expect(metrics.faults.isEmpty)
                #expect(metrics.values["storagekit_hub_streams"] == 0)
                #expect((metrics.values["storagekit_commit_duration_seconds_count"] ?? 0) >= 1)
            }
        }
    }
#endif
