#if STORAGE_HTTP
    import Foundation
    import NIOHTTP1
    import StorageHTTP
    import Testing

    /// Answers in several parts.
    @Suite struct PageTests {
        private struct Envelope: Decodable {
            let items: [Chore]
            let next: String?
        }

        private func chores(_ ids: ClosedRange<Int>) -> [Chore] { ids.map { Chore(id: $0, title: "new") } }

        /// Two rows a page, of five.
        private static func page(_ request: TestServer.Request) -> Reply {
            let start = Int(request.path.split(separator: "=").last ?? "") ?? 1
            let rows = (start...min(start + 1, 5)).map { Chore(id: $0, title: "new") }
            return .ok(rows.json, start < 5 ? ["Link: </tasks?from=\(start + 2)>; rel=\"next\""] : [])
        }

        @MainActor
        @Test("Pages are fetched one after another with the headers")
        func consecutivePages() async throws {
            let home = try Household()
            try await home.storage.save(Chore(id: 9, title: "gone"))
            try await TestServer.run(Self.page) { server in
                let remote = server.remote("/tasks", headers: ["Authorization": "secret"])
                try await home.container.refresh(QuerySource(Household.all, name: "chores").remote(remote))
                #expect(try await home.stored() == chores(1...5))
                #expect(server.requests.map(\.path) == ["/tasks", "/tasks?from=3", "/tasks?from=5"])
                #expect(server.requests.allSatisfy { $0.headers["Authorization"] == ["secret"] })
            }
        }

        @MainActor
        @Test("A failure between pages deletes nothing")
        func failureBetweenPages() async throws {
            let home = try Household()
            try await home.storage.save(Chore(id: 9, title: "stays"))
            try await TestServer.run({
                $0.path == "/tasks" ? Self.page($0) : .raw("200 OK", ["Content-Length: 9"], end: .close)
            }) {
                server async throws in
                let source = QuerySource(Household.all, name: "chores").remote(server.remote("/tasks"))
                await #expect(throws: StorageError.self) { try await home.container.refresh(source) }
                #expect(try await home.stored().map(\.id) == [1, 2, 9])
                #expect(try await home.status().lastRefresh == nil)
            }
        }

        @Test("Envelopes say where the next page is")
        func envelopes() async throws {
            let bodies = [
                "/tasks": #"{"items": [{"id": 1, "title": "a", "priority": 0}], "next": "?page=2"}"#,
                "/tasks?page=2": #"{"items": [], "next": null}"#,
            ]
            try await TestServer.run({ .ok(bodies[$0.path] ?? "") }) { server in
                let remote = server.remote("/tasks")
                let source = QuerySource(Household.all, name: "chores").remote(remote) { body, decoder in
                    let envelope = try decoder.decode(Envelope.self, from: body)
                    return HTTPPage(envelope.items, next: envelope.next)
                }
                let action = try #require(source.refreshAction)
                let first = try await action.fetch(QueryFetch())
                #expect(first.rows == [Chore(id: 1, title: "a")])
                #expect(first.next == "\(server.origin)/tasks?page=2")
                let last = try await action.fetch(QueryFetch(cursor: first.next))
                #expect(last.rows == [])
                #expect(last.next == nil)
            }
        }

        @Test("A reference is relative to the page that it is on")
        func relativeReference() async throws {
            try await TestServer.run({ _ in .ok("[]", ["Link: <../b/?n=2#top>; rel=next"]) }) { server async throws in
                #expect(
                    try await server.remote("/v1/a/x?n=1").answer().next == "\(server.origin)/v1/b/?n=2")
            }
        }

        /// It would carry the headers there.
        @Test("A page elsewhere is refused before anybody is asked")
        func pageElsewhere() async throws {
            try await TestServer.run({ _ in .ok("[]") }) { other in
                let links = [
                    "http://127.0.0.1:\(other.port)/", "//127.0.0.1:\(other.port)/", "http://localhost:PORT/",
                    "https://127.0.0.1:PORT/",
                    "http://127.0.0.1:PORT@127.0.0.1:\(other.port)/", "ftp://127.0.0.1:PORT/",
                    "http://ada@127.0.0.1:PORT/",
                    "http://127.0.0.1/", "javascript:alert()", "http://",
                ]
                try await TestServer.run({ request in
                    let link = links[Int(request.path.dropFirst()) ?? 0]
                    let port = request.headers.first(name: "Host")?.split(separator: ":").last ?? ""
                    return .ok("[]", ["Link: <\(link.replacing("PORT", with: port))>; rel=next"])
                }) { server in
                    for (number, link) in links.enumerated() {
                        let error = try await server.remote("/\(number)", headers: ["X-Key": "secret"])
                            .error()
                        #expect(error.code == .badLink, "\(link)")
                        #expect(!error.message.contains("localhost"))
                        #expect(!error.message.contains("\(other.port)"))
                        // A cursor that came from anywhere else isn't trusted more.
                        let page = QueryFetch(cursor: link.replacing("PORT", with: "\(server.port)"))
                        #expect(try await server.remote().error(page).code == .badLink, "\(link)")
                    }
                    #expect(server.requests.count == links.count)
                    #expect(other.requests.isEmpty)
                }
            }
        }

        /// Taken for the last page, it would delete the rows of all others.
        @Test(
            "A malformed link isn't taken for the end of the pages",
            arguments: ["/2; rel=next", "</2; rel=next", #"</2>; rel="next"#, "</2> rel=next", "<>; rel=next"])
        func malformedLink(link: String) async throws {
            try await TestServer.run({ _ in .ok("[]", ["Link: \(link)"]) }) { server async throws in
                #expect(try await server.remote().error().code == .badLink)
            }
        }

        @Test("A page that is its own next is refused")
        func selfReferringPage() async throws {
            try await TestServer.run({ _ in .ok("[]", ["Link: </tasks?n=1>; rel=next"]) }) { server async throws in
                #expect(try await server.remote("/tasks?n=1").error().code == .badLink)
            }
        }
    }
#endif
