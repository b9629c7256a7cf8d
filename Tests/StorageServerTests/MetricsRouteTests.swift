#if STORAGE_SERVER
    import NIOHTTP1
    import StorageKit
    import StorageLog
    import StorageServer
    import TestSupport
    import Testing

    @testable import StorageSync

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

        /// Engines, sources and the metrics look for tables by their names.
        @Test("Collections may have any name")
        func collectionsNamedAsOwnTables() async throws {
            try await ServedHub.run { hub in
                let full = try await hub.token("ops", administers: true)
                for name in ["sync_remotes", "Sync_Outbox", "query_source_state", "hub_requests", "kv_cache"] {
                    let path = "/v1/collections/\(name)/documents/d"
                    #expect(try await hub.send(.PUT, path, token: full, body: #"{"t":1}"#).status == 201)
                    let read = try await hub.send(.GET, path, token: full)
                    #expect(try HubDocument(json: read.body.utf8).fields == ["id": #""d""#, "t": "1"])
                }
                #expect(try await hub.send(.GET, "/metrics", token: full).status == 200)
                #expect(try await hub.storage.querySourceStatuses().isEmpty)
                #expect(try await hub.storage.engine.read { try OutboxStatus.all(in: $0) }.isEmpty)
            }
        }
    }
#endif
