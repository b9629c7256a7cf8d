#if STORAGE_HTTP
    import Foundation
    import NIOHTTP1
    import StorageHTTP
    import Testing

    /// Answers that needn't come again.
    @Suite struct ConditionTests {
        private static let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT"

        private func validator(of headers: [String]) async throws -> (validator: String?, second: TestServer.Request?) {
            try await TestServer.run({ request in
                request.headers.contains(name: "If-None-Match") || request.headers.contains(name: "If-Modified-Since")
                    ? .raw("304 Not Modified", []) : .ok("[]", headers)
            }) { server in
                let remote = server.remote()
                let validator = try await remote.answer().validator
                guard validator != nil else { return (nil, nil) }
                #expect(try await remote.answer(QueryFetch(validator: validator)).isNotModified)
                return (validator, server.requests.last)
            }
        }

        @Test("A tag is sent back as it came", arguments: [#""v 1, é""#, #"W/"weak""#, #""""#])
        func entityTag(tag: String) async throws {
            let second = try await validator(of: [
                "ETag: \(tag)", "Last-Modified: Sun, 06 Nov 1994 08:00:00 GMT", Self.date,
            ]).second
            #expect(second?.headers["If-None-Match"] == [tag])
            #expect(second?.headers["If-Modified-Since"] == [])
        }

        @Test("Without a tag the time is sent back")
        func lastModified() async throws {
            let time = "Sun, 06 Nov 1994 08:49:36 GMT"
            for tag in [[], ["ETag: no-quotes"]] {
                let second = try await validator(of: tag + ["Last-Modified: \(time)", Self.date]).second
                #expect(second?.headers["If-Modified-Since"] == [time])
                #expect(second?.headers["If-None-Match"] == [])
            }
        }

        /// The rows may change again in the same second.
        @Test("A time of the same second isn't a validator")
        func timeOfSameSecond() async throws {
            #expect(
                try await validator(of: ["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", Self.date]).validator == nil)
            #expect(try await validator(of: ["Last-Modified: Sun, 06 Nov 1994 08:00:00 GMT"]).validator == nil)
            #expect(try await validator(of: ["Last-Modified: yesterday", Self.date]).validator == nil)
        }

        @Test("A validator is for its URL only")
        func validatorIsForItsURL() async throws {
            try await TestServer.run({ _ in .ok("[]", ["ETag: \"1\""]) }) { server in
                let validator = try #require(try await server.remote("/?key=secret").answer().validator)
                #expect(!validator.contains("secret"))
                for other in [
                    QueryFetch(validator: validator), QueryFetch(validator: "\"1\""), QueryFetch(validator: ""),
                ] {
                    _ = try await server.remote("/?key=other").answer(other)
                    #expect(server.requests.last?.headers["If-None-Match"] == [])
                }
            }
        }

        @Test("An answer that wasn't asked for is an error")
        func unaskedNotModified() async throws {
            try await TestServer.run({ _ in .raw("304 Not Modified", ["ETag: \"1\""]) }) { server async throws in
                #expect(try await server.remote().error().status == 304)
            }
        }

        /// It would speak for the first page only.
        @Test("An answer of several pages has no validator")
        func pagedAnswerHasNoValidator() async throws {
            try await TestServer.run({ request in
                .ok("[]", ["ETag: \"1\""] + (request.path == "/" ? ["Link: </2>; rel=next"] : []))
            }) { server in
                let remote = server.remote()
                let first = try await remote.answer()
                #expect(first.next == "\(server.origin)/2")
                #expect(first.validator == nil)
                #expect(try await remote.answer(QueryFetch(cursor: first.next)).validator == nil)
            }
        }

        /// It would be of another URL.
        @Test("An answer that came by a redirect has no validator")
        func redirectedAnswerHasNoValidator() async throws {
            try await TestServer.run({ request in
                request.path == "/new" ? .ok("[]", ["ETag: \"1\""]) : .status("302 Found", ["Location: /new"])
            }) { server async throws in
                #expect(try await server.remote("/old").answer().validator == nil)
            }
        }

        @Test("A condition isn't sent behind a redirect")
        func noConditionBehindRedirect() async throws {
            let moves = Switch()
            try await TestServer.run({ request in
                switch request.path {
                case "/new": request.headers.contains(name: "If-None-Match") ? .raw("304 Not Modified", []) : .ok("[]")
                default: moves.isOn ? .status("302 Found", ["Location: /new"]) : .ok("[]", ["ETag: \"1\""])
                }
            }) { server async throws in
                let remote = server.remote()
                let validator = try #require(try await remote.answer().validator)
                moves.isOn = true
                #expect(try await remote.answer(QueryFetch(validator: validator)).rows == [])
                #expect(server.requests.map { $0.headers.contains(name: "If-None-Match") } == [false, true, false])
            }
        }

        @MainActor
        @Test("The store asks only whether something is new")
        func conditionalRefresh() async throws {
            let home = try Household()
            let rows = [Chore(id: 1, title: "sweep")]
            try await TestServer.run({ request in
                request.headers.first(name: "If-None-Match") == "\"1\""
                    ? .raw("304 Not Modified", ["ETag: \"1\""]) : .ok(rows.json, ["ETag: \"1\""])
            }) { server in
                let source = QuerySource(Household.all, name: "chores").remote(server.remote())
                for _ in 0..<2 { try await home.container.refresh(source) }
                #expect(server.requests.map { $0.headers.contains(name: "If-None-Match") } == [false, true])
                // What the server knows of are its own rows only.
                try await home.storage.save(Chore(id: 1, title: "mine"))
                try await home.container.refresh(source)
                #expect(server.requests.last?.headers.contains(name: "If-None-Match") == false)
                #expect(try await home.stored() == rows)
            }
        }
    }
#endif
