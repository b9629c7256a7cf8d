#if STORAGE_HTTP
    import StorageKit
    import StorageSync
    import TestSupport
    import Testing

    @testable import StorageHTTP

    /// Closures for a token or header fields that don't return. What waits for them exceeds the time limit of its test.
    @Suite(.timeLimit(.minutes(10))) struct CredentialTests {
        /// Never returns, and doesn't react to its task's cancellation.
        private static func never<Value: Sendable>() async -> Value {
            await withUnsafeContinuation { (_: UnsafeContinuation<Value, Never>) in }
        }

        private let address = "http://127.0.0.1:9/"

        @Test("A token is waited for as long as an answer")
        func missingToken() async throws {
            try await TestServer.run({ _ in .ok("{}") }) { server in
                let hub = HTTPHubClient(
                    url: server.origin + "/", token: { await Self.never() }, client: server.client,
                    timeout: .milliseconds(100))
                let error = await #expect(throws: HTTPRemoteError.self) { _ = try await hub.head() }
                #expect(error?.code == .timedOut)
                let message = "The token closure for \(server.origin)/v1/collections hasn't returned after 0.1 s."
                #expect(error?.message == message)
                #expect(server.requests.isEmpty)
            }
        }

        @Test("Header fields are waited for as long as an answer")
        @MainActor func missingHeaders() async throws {
            try await TestServer.run({ _ in .ok("[]") }) { server in
                var configuration = RESTConfiguration(server.origin) { _ in await Self.never() }
                configuration.client = server.client
                configuration.timeout = .milliseconds(100)
                let remote = RESTRemoteCollectionService<Errand>(configuration) { "errands" }
                let error = await #expect(throws: HTTPRemoteError.self) { _ = try await remote.getCollection() }
                #expect(error?.code == .timedOut)
                let message = "The headers closure for \(server.origin)/errands hasn't returned after 0.1 s."
                #expect(error?.message == message)
                #expect(server.requests.isEmpty)
            }
        }

        @Test("A cancelled request doesn't wait for other header fields")
        @MainActor func cancellationAfterRefusal() async throws {
            try await TestServer.run({ _ in .status("401 Unauthorized") }) { server in
                let isCalled = Switch()
                var configuration = RESTConfiguration(server.origin) { wereRefused in
                    guard wereRefused else { return [:] }
                    isCalled.isOn = true
                    return await Self.never()
                }
                configuration.client = server.client
                configuration.timeout = .seconds(3_600)
                let remote = RESTRemoteCollectionService<Errand>(configuration) { "errands" }
                let task = Task { try await remote.getCollection() }
                try await eventually { isCalled.isOn }
                task.cancel()
                await #expect(throws: CancellationError.self) { _ = try await task.value }
            }
        }

        @Test("A cancelled request doesn't wait for its token")
        func cancellation() async throws {
            let isCalled = Switch()
            let hub = HTTPHubClient(
                url: address,
                token: {
                    isCalled.isOn = true
                    return await Self.never()
                }, client: .shared, timeout: .seconds(3_600))
            let task = Task { try await hub.head() }
            try await eventually { isCalled.isOn }
            task.cancel()
            await #expect(throws: CancellationError.self) { _ = try await task.value }
        }

        @Test("A closure that is no longer waited for is cancelled")
        func cancelledClosure() async throws {
            let isCancelled = Switch()
            let hub = HTTPHubClient(
                url: address,
                token: {
                    do { try await Task.sleep(for: .seconds(3_600)) } catch { isCancelled.isOn = true }
                    return nil
                }, client: .shared, timeout: .milliseconds(100))
            await #expect(throws: HTTPRemoteError.self) { _ = try await hub.head() }
            try await eventually { isCancelled.isOn }
        }

        @Test("The errors of a closure are those of its request")
        func failedClosure() async throws {
            struct SignedOut: Error {}
            let hub = HTTPHubClient(url: address, token: { throw SignedOut() }, client: .shared)
            await #expect(throws: SignedOut.self) { _ = try await hub.head() }
        }

        @MainActor private func engine(
            _ container: PersistenceContainer, timeout: Duration, _ isCalled: Switch
        ) -> CollectionSyncEngine<Errand> {
            let hub = HTTPHubClient(
                url: address,
                token: {
                    isCalled.isOn = true
                    return await Self.never()
                }, client: .shared, timeout: timeout)
            return withDatabaseContainer(container) {
                CollectionSyncEngine(remote: HubCollection("errands", of: hub, account: { "" }), managerKey: "errands")
            }
        }

        @Test("The status of an engine says that its token is missing")
        @MainActor func statusOfEngine() async throws {
            let container = try PersistenceContainer.inMemory { _ in }
            let engine = engine(container, timeout: .milliseconds(100), Switch())
            await engine.startListening()
            try await eventually { engine.status.lastError?.contains("The token closure") == true }
            try await container.storage.close()
        }

        @Test("An engine that waits for its token can be stopped")
        @MainActor func stoppedEngine() async throws {
            let container = try PersistenceContainer.inMemory { _ in }
            let isCalled = Switch()
            let engine = engine(container, timeout: .seconds(3_600), isCalled)
            let listening = Task { await engine.startListening() }
            try await eventually { isCalled.isOn }
            engine.stopListening()
            await listening.value
            try await container.storage.close()
        }
    }
#endif
