#if STORAGE_HTTP
    import Foundation
    import NIOHTTP1
    import TestSupport
    import StorageHTTP
    import StorageSync
    import Testing

    /// What comes of answers that are as they should be.
    @Suite struct FetchTests {
        private let rows = [Chore(id: 1, title: "sweep"), Chore(id: 2, title: "cook", priority: 3)]

        @Test("An array of rows is decoded")
        func arrayOfRows() async throws {
            try await TestServer.run({ [json = rows.json] _ in .ok(json) }) { server in
                let answer = try await server.remote("/tasks?open=1#top")
                    .answer()
                #expect(answer.rows == rows)
                #expect(answer.next == nil)
                #expect(answer.validator == nil)
                #expect(server.requests.map(\.path) == ["/tasks?open=1"])
            }
        }

        @Test("Chunked bodies are decoded")
        func chunkedBodies() async throws {
            let json = rows.json
            let chunks = json.map { "1\r\n\($0)\r\n" }.joined() + "0\r\n\r\n"
            try await TestServer.run({ _ in .raw("200 OK", ["Transfer-Encoding: chunked"], body: chunks) }) {
                server async throws in
                #expect(try await server.remote().answer().rows == rows)
            }
        }

        @Test("Bodies that end with the connection are decoded")
        func bodiesUntilClose() async throws {
            try await TestServer.run({ [json = rows.json] _ in .raw("200 OK", [], body: json, end: .close) }) {
                server async throws in
                #expect(try await server.remote().answer().rows == rows)
            }
        }

        @Test("Headers are sent, and the remote's own can't be replaced")
        func customHeaders() async throws {
            try await TestServer.run({ _ in .ok("[]") }) { server in
                _ = try await server.remote(headers: [
                    "Authorization": "secret", "accept-encoding": "gzip", "If-None-Match": "*", "X-Key": "1",
                ]
                ).answer()
                let headers = try #require(server.requests.first?.headers)
                #expect(headers["Authorization"] == ["secret"])
                #expect(headers["X-Key"] == ["1"])
                #expect(headers["Accept-Encoding"] == ["identity"])
                #expect(headers["If-None-Match"] == [])
                #expect(headers["Accept"] == ["application/json"])
                _ = try await server.remote(headers: ["accept": "application/vnd.tasks+json"]).answer()
                #expect(server.requests.last?.headers["Accept"] == ["application/vnd.tasks+json"])
            }
        }

        @Test("The given decoder is used")
        func customDecoder() async throws {
            struct Item: Decodable { let taskTitle: String }
            try await TestServer.run({ _ in .ok(#"[{"task_title": "sweep"}]"#) }) { server in
                let remote = server.remote() {
                    let decoder = JSONDecoder()
                    decoder.keyDecodingStrategy = .convertFromSnakeCase
                    return decoder
                }
                let source = QuerySource(Household.all, name: "chores").remote(remote) { body, decoder in
                    let items = try decoder.decode([Item].self, from: body)
                    return HTTPPage(items.enumerated().map { Chore(id: $0, title: $1.taskTitle) })
                }
                let answer = try await source.refreshAction?.fetch(QueryFetch())
                #expect(answer?.rows == [Chore(id: 0, title: "sweep")])
            }
        }

        @Test("Connections are reused and closed with their client")
        func connectionReuse() async throws {
            try await TestServer.run({ _ in .ok("[]") }) { server in
                do {
                    var remote = server.remote()
                    remote.client = HTTPRemoteClient()
                    for _ in 0..<5 { _ = try await remote.answer() }
                    #expect(server.connectionCount == 1)
                    #expect(server.openCount == 1)
                }
                try await eventually { server.openCount == 0 }
            }
        }

        @Test("A body of the greatest length is read")
        func bodyOfMaximumLength() async throws {
            try await TestServer.run({ [json = rows.json] _ in .ok(json) }) { server async throws in
                #expect(try await server.remote(maximumBytes: rows.json.utf8.count).answer().rows == rows)
            }
        }
    }
#endif
