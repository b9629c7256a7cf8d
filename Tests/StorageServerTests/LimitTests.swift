#if STORAGE_SERVER
    import Foundation
    import NIOHTTP1
    import Testing

    @testable import StorageServer
    @testable import StorageSync

    /// What a hub doesn't take.
    @Suite(.timeLimit(.minutes(10))) struct LimitTests {
        private let path = "/v1/collections/notes/documents/1"

        @Test("Bodies and batches are limited")
        func bodyAndBatchLimits() async throws {
            var configuration = HubServerConfiguration()
            configuration.limits.bodyBytes = 1_000
            configuration.limits.batchWrites = 2
            try await ServedHub.run(configuration) { hub in
                let token = try await hub.token()
                let large = #"{"t":"\#(String(repeating: "x", count: 1_000))"}"#
                let answer = try await hub.send(.PUT, path, token: token, body: large)
                #expect(answer.status == 413)
                #expect(answer.code == "too-large")
                let write = #"{"origin":1,"base":0,"collection":"n","id":"1","operation":"delete"}"#
                let line = String(repeating: "0", count: 32)
                let batch =
                    #"{"producer":"p","epoch":1,"line":"\#(line)","firstNumber":1,"writes":[\#([write, write, write].joined(separator: ","))]}"#
                let pushed = try await hub.send(.POST, "/v1/sync/push", token: token, body: batch)
                #expect(pushed.status == 413)
            }
        }

        @Test("Bodies of all requests are limited")
        func totalBodyLimit() async throws {
            var configuration = HubServerConfiguration()
            configuration.limits.bodyBytesAtOnce = 1_000
            try await ServedHub.run(configuration) { hub in
                let token = try await hub.token()
                let large = #"{"t":"\#(String(repeating: "x", count: 1_000))"}"#
                for _ in 0..<3 {
                    let answer = try await hub.send(.PUT, path, token: token, body: large)
                    #expect(answer.status == 503)
                    #expect(answer.code == "unavailable")
                    #expect(answer.headers.contains(name: "Retry-After"))
                    let small = #"{"t":"\#(String(repeating: "x", count: 900))"}"#
                    #expect(try await hub.send(.PUT, path, token: token, body: small).status < 300, "all is free again")
                }
            }
        }

        /// Who may not ask costs no more than the asking.
        @Test("Access is checked before the body")
        func accessBeforeBody() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token("none", [])
                for (method, path) in [
                    (.POST, "/v1/collections/notes/query"), (.PUT, path), (.PATCH, path),
                ] as [(HTTPMethod, String)] {
                    let answer = try await hub.send(method, path, token: token, body: "no JSON")
                    #expect(answer.status == 403, "\(method)")
                    #expect(answer.code == "forbidden", "\(method)")
                }
            }
        }

        @Test("Parts of a query are limited")
        func queryLimits() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                let orders = Array(repeating: #"{"field":"a"}"#, count: 300_000).joined(separator: ",")
                let start = ContinuousClock.now
                let answer = try await hub.send(
                    .POST, "/v1/collections/notes/query", token: token, body: "{\"orders\":[\(orders)]}")
                #expect(answer.status == 400)
                #expect(answer.body.contains("more than 100 orders"))
                #expect(ContinuousClock.now - start < .seconds(90))
            }
        }

        @Test("Requests and streams of a token are limited")
        func tokenLimits() async throws {
            var configuration = HubServerConfiguration()
            configuration.limits.requestsPerSecond = 0.01
            configuration.limits.requestBurst = 3
            configuration.limits.streamsPerToken = 1
            try await ServedHub.run(configuration) { hub in
                let token = try await hub.token()
                var events = try await hub.events("/v1/changes?collection=notes", token: token)
                #expect(try await events.next() != nil)
                let second = try await hub.send(
                    .GET, "/v1/changes?collection=notes", token: token, headers: ["Accept": "text/event-stream"])
                #expect(second.status == 429)
                #expect(second.headers.contains(name: "Retry-After"))
                #expect(try await hub.send(.GET, "/v1/collections", token: token).status == 200)
                let fourth = try await hub.send(.GET, "/v1/collections", token: token)
                #expect(fourth.status == 429)
                #expect(fourth.headers.first(name: "Retry-After") != nil)
                #expect(try await hub.send(.GET, "/v1/collections", token: hub.token("bob")).status == 200)
            }
        }

        @Test("Times that are too long for a clock are shortened")
        func longestTimes() async throws {
            var configuration = HubServerConfiguration()
            configuration.limits.bodySeconds = .max
            configuration.limits.idleSeconds = .max
            configuration.limits.writeSeconds = .max
            try await ServedHub.run(configuration) { hub in
                let token = try await hub.token()
                var events = try await hub.events("/v1/changes?collection=notes", token: token)
                #expect(try await events.next() != nil)
                #expect(try await hub.send(.PUT, path, token: token, body: "{}").status < 300)
            }
        }

        @Test("Other methods, media types and names are refused")
        func otherMethodsAndHosts() async throws {
            var configuration = HubServerConfiguration()
            configuration.hosts = ["localhost", "127.0.0.1"]
            configuration.origins = ["https://app.example"]
            try await ServedHub.run(configuration) { hub in
                let token = try await hub.token()
                let post = try await hub.send(.POST, path, token: token, body: "{}")
                #expect(post.status == 405)
                #expect(post.headers.first(name: "Allow")?.contains("PUT") == true)
                for method in [HTTPMethod.TRACE, .RAW(value: "QUERY")] {
                    #expect(try await hub.send(method, "/health", token: nil).status == 405)
                }
                let form = try await hub.send(
                    .PUT, path, token: token, body: "a=b",
                    headers: ["Content-Type": "application/x-www-form-urlencoded"])
                #expect(form.status == 415)
                let zipped = try await hub.send(
                    .PUT, path, token: token, body: "{}", headers: ["Content-Encoding": "gzip"])
                #expect(zipped.status == 415)
                let named = try await hub.send(.GET, "/health", token: nil, headers: ["Host": "evil.example"])
                #expect(named.status == 421)
                let shared = try await hub.send(
                    .OPTIONS, path, token: nil, headers: ["Origin": "https://app.example"])
                #expect(shared.status == 204)
                #expect(shared.headers.first(name: "Access-Control-Allow-Origin") == "https://app.example")
                let other = try await hub.send(.OPTIONS, path, token: nil, headers: ["Origin": "https://evil.example"])
                #expect(!other.headers.contains(name: "Access-Control-Allow-Origin"))
            }
        }
    }
#endif
