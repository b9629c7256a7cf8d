#if STORAGE_HTTP
    import Foundation
    import TestSupport
    import StorageHTTP
    import StorageTesting
    import Testing

    /// What those who show a source see when its remote fails.
    @Suite struct FailureTests {
        @Test(
            "A status without rows is reported with a remedy",
            arguments: [
                (404, "404 Not Found", "URL"), (401, "401 Unauthorized", "credentials"),
                (500, "500 Internal Server Error", "server"),
                (429, "429 Too Many Requests", "less often"), (204, "204 No Content", "200"), (799, "799", "server"),
                (206, "206 Partial Content", "200"), (304, "304 Not Modified", "condition"),
                (300, "300 Multiple Choices", "URL"),
            ])
        func statusWithoutRows(status: Int, text: String, remedy: String) async throws {
            let head =
                status == 204 || status == 304
                ? Reply.raw("\(status) Secret", []) : .status("\(status) Secret", body: "[]")
            try await TestServer.run({ _ in head }) { server in
                let error = try await server.remote("/tasks").error()
                #expect(error.code == .status)
                #expect(error.status == status)
                #expect(error.retryAfter == nil)
                #expect(error.message == "\(server.origin)/tasks answers \(text).")
                #expect(error.remedy.contains(remedy))
            }
        }

        @Test("A status may say when to come back", arguments: [429, 503, 500, 404, 301])
        func retryAfterHeader(status: Int) async throws {
            let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT"
            let forms = [
                "Retry-After: 60", "Retry-After: Sun, 06 Nov 1994 08:50:37 GMT",
                "Retry-After: Sunday, 06-Nov-94 08:50:37 GMT", "Retry-After: Sun Nov  6 08:50:37 1994",
            ]
            try await TestServer.run({ .status("\(status) X", [date, forms[Int($0.path.dropFirst()) ?? 0]]) }) {
                server in
                for form in forms.indices {
                    let error = try await server.remote("/\(form)").error()
                    #expect(error.retryAfter == .seconds(60), "\(forms[form])")
                }
            }
        }

        /// What doesn't change by asking again isn't asked again; see `RefusalTests` for what that means.
        @Test("Statuses that won't change by asking again are refusals")
        func refusals() async throws {
            try await TestServer.run({ request in
                let status = Int(request.path.dropFirst().prefix(3)) ?? 500
                let waits = request.path.hasSuffix("w") ? ["Retry-After: 60"] : []
                return status == 204 ? .raw("204 X", []) : .status("\(status) X", waits)
            }) { server in
                for status in [400, 401, 402, 403, 404, 405, 406, 407, 409, 410, 413, 414, 415, 422, 451] {
                    let isRefusal = try await server.remote("/\(status)").error().isRefusal
                    let waits = try await server.remote("/\(status)w").error().isRefusal
                    #expect(isRefusal, "\(status)")
                    #expect(!waits, "\(status)")
                }
                for status in [204, 300, 408, 421, 425, 429, 500, 501, 502, 503, 504, 505, 799] {
                    let isRefusal = try await server.remote("/\(status)").error().isRefusal
                    #expect(!isRefusal, "\(status)")
                }
                let invalid = try await HTTPRemote("ftp://127.0.0.1/").error().isRefusal
                #expect(invalid)
            }
        }

        @MainActor
        @Test("A refused source waits for other credentials")
        func refusedSource() async throws {
            let isSignedIn = Switch()
            let rows = [Chore(id: 1, title: "sweep")]
            try await TestServer.run({ _ in isSignedIn.isOn ? .ok(rows.json) : .status("401 Unauthorized") }) {
                server async throws in
                let home = try Household()
                let source = QuerySource(Household.all, name: "chores").remote(server.remote()).cache(.networkFirst)
                let results = home.container.results(of: source)
                try await eventually { results.error != nil }
                #expect(results.status?.isRefused == true)
                #expect(results.status?.nextRefresh == nil)
                #expect((results.error?.cause as? HTTPRemoteError)?.status == 401)
                #expect(results.error?.remedy.contains("credentialsChanged()") == true)
                home.clock.advance(by: .seconds(86_400))
                #expect(home.clock.sleeperCount == 0)
                #expect(server.requests.count == 1)
                isSignedIn.isOn = true
                home.container.credentialsChanged()
                try await eventually { results.error == nil && results.items == rows }
                #expect(results.status?.isRefused == false)
                #expect(server.requests.count == 2)
            }
        }

        @Test("A closed port fails at once")
        func closedPort() async throws {
            let time = TaskTime()
            let socket = try LoopbackSocket()
            defer { withExtendedLifetime(socket) {} }
            let client = HTTPRemoteClient(connectTimeout: .seconds(120))
            let error = try await HTTPRemote(socket.origin, client: client).error()
            #expect(error.code == .connectionFailed)
            #expect(error.message.contains("Connection refused"))
            // The client's own repetitions would go on to the end of its timeout.
            #expect(time.elapsed < .seconds(60))
        }

        @Test("A body that is cut off isn't taken for a shorter one")
        func cutOffBody() async throws {
            let replies = [
                // What came is valid JSON, and the server is gone.
                Reply.raw("200 OK", ["Content-Length: 100"], body: "[]", end: .close),
                .raw("200 OK", ["Transfer-Encoding: chunked"], body: "2\r\n[]\r\n", end: .close),
                Reply(bytes: "HTTP/1.1 200 OK\r\nContent-Le", end: .close),
                Reply(bytes: "", end: .close),
            ]
            for (number, reply) in replies.enumerated() {
                try await TestServer.run({ _ in reply }) { server async throws in
                    #expect(try await server.remote().error().code == .cutOff, "\(number)")
                }
            }
        }

        @Test("A length that is too short cuts the body")
        func tooShortContentLength() async throws {
            try await TestServer.run({ _ in .raw("200 OK", ["Content-Length: 1"], body: "[]", end: .close) }) {
                server async throws in
                #expect(try await server.remote().error().code == .undecodable)
            }
        }

        @Test("Nothing is sent to a server without TLS")
        func serverWithoutTLS() async throws {
            try await TestServer.run({ _ in .ok("[]") }) { server async throws in
                let remote = HTTPRemote("https://127.0.0.1:\(server.port)/")
                #expect(try await remote.error().code == .connectionFailed)
                #expect(server.requests.isEmpty)
            }
        }

        @Test("An answer that isn't HTTP is reported")
        func notHTTP() async throws {
            try await TestServer.run({ _ in Reply(bytes: "220 mail ready\r\n", end: .close) }) { server in
                let error = try await server.remote().error()
                #expect(error.code == .undecodable)
                #expect(error.message.contains("isn't HTTP"))
            }
        }

        @Test(
            "A body that can't be decoded is reported by its location only",
            arguments: [
                ("<html>secret</html>", "the document isn't well formed"),
                ("", "the document isn't well formed"),
                ("{\"secret\": 1}", "the document isn't of type Array<Any>"),
                ("[{\"id\": 1, \"title\": \"secret\"}]", "$[0] has no priority"),
                ("[{\"id\": 1, \"title\": \"a\", \"priority\": 1}, {\"id\": \"secret\"}]", "$[1].id isn't of type Int"),
                ("[{\"id\": 1, \"title\": null}]", "$[0].title is null where a String is expected"),
            ])
        func undecodableBody(body: String, place: String) async throws {
            try await TestServer.run({ _ in .ok(body) }) { server in
                let error = try await server.remote().error()
                #expect(error.code == .undecodable, "\(error)")
                #expect(error.message.contains(place), "\(error)")
                #expect(!"\(error)".contains("secret"))
            }
        }

        private struct Count: Decodable { let n: Int }

        /// A type whose properties the body names.
        private struct Open: Decodable {
            enum Key: CodingKey {
                case named(String)
                init?(stringValue: String) { self = .named(stringValue) }
                init?(intValue: Int) { nil }
                var stringValue: String { if case .named(let name) = self { name } else { "" } }
                var intValue: Int? { nil }
            }

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                for key in container.allKeys { _ = try container.decode(Int.self, forKey: key) }
            }
        }

        /// Keys of a dictionary are content as much as its values are.
        @Test("Keys that the body chose aren't reported")
        func keysAreNotReported() async throws {
            try await TestServer.run({ .ok($0.path == "/n" ? #"{"99887766": {"n": "x"}}"# : #"{"99887766": "x"}"#) }) {
                server in
                func expect<Body: Decodable & Sendable>(_ type: Body.Type, _ path: String, _ place: String) async {
                    let source = QuerySource(Household.all, name: "chores").remote(server.remote(path)) {
                        body, decoder in
                        _ = try decoder.decode(Body.self, from: body)
                        return HTTPPage([])
                    }
                    let error = await #expect(throws: HTTPRemoteError.self) {
                        try await source.refreshAction?.fetch(QueryFetch())
                    }
                    #expect(error?.message.contains(": \(place) isn't of type Int") == true, "\(error as Any)")
                    #expect(error?.message.contains("99887766") == false)
                }
                await expect([String: Count].self, "/n", "$.*.n")
                await expect([Int: Count].self, "/n", "$.*.n")
                await expect([String: Int].self, "", "$.*")
                await expect(Open.self, "", "$.*")
            }
        }

        @Test("Errors of the decoding closure are reported by their type")
        func decodingClosureErrors() async throws {
            struct Refusal: Error { let body: String }
            try await TestServer.run({ _ in .ok("secret") }) { server in
                let source = QuerySource(Household.all, name: "chores").remote(server.remote()) { body, _ in
                    throw Refusal(body: String(decoding: body, as: UTF8.self))
                }
                let error = await #expect(throws: HTTPRemoteError.self) {
                    try await source.refreshAction?.fetch(QueryFetch())
                }
                #expect(error?.message.contains("Refusal") == true)
                #expect(!"\(error as Any)".contains("secret"))
            }
        }

        @Test(
            "Only whole URLs without a user are requested",
            arguments: [
                "", "tasks", "/tasks", "ftp://127.0.0.1/", "file:///etc/passwd", "http+unix://%2Ftmp/", "http:///tasks",
                "https://",
                "http://ada:secret@127.0.0.1/", "http://secret@127.0.0.1/", "http://ada:sec?ret@127.0.0.1/",
                "javascript:secret",
            ])
        func invalidURLs(url: String) async throws {
            let error = try await HTTPRemote(url).error()
            #expect(
                error.code == .invalidRequest,
                "\(error)")
            #expect(
                !"\(error)".contains("secret"),
                "\(error)")
            #expect(
                !"\(error)".contains("ret@"),
                "\(error)")
        }

        @Test("Errors name the URL without its query")
        func errorsOmitQuery() async throws {
            try await TestServer.run({ _ in .status("404 Not Found", ["X-Secret: secret"], body: "secret") }) {
                server in
                let remote = HTTPRemote(
                    "\(server.origin)/tasks/%C3%A9?key=secret#secret", headers: ["Authorization": "secret"])
                let error = try await remote.error()
                #expect(error.description.hasPrefix("\(server.origin)/tasks/%C3%A9 answers 404 Not Found."))
                #expect(!String(reflecting: error).contains("secret"))
            }
        }

        @Test("A header that can't be sent isn't reported")
        func unsendableHeader() async throws {
            try await TestServer.run({ _ in .ok("[]") }) { server in
                let error = try await server.remote(headers: ["Authorization": "secret\r\nX: 1"]).error()
                #expect(error.code == .invalidRequest)
                #expect(error.message.contains("header"))
                #expect(!String(reflecting: error).contains("secret"))
                #expect(server.requests.isEmpty)
            }
        }
    }
#endif
