#if STORAGE_HTTP
    import Foundation
    import NIOHTTP1
    import StorageHTTP
    import Testing

    /// Servers that send their clients elsewhere.
    @Suite struct RedirectTests {
        private let secrets: [String: String] = [
            "Authorization": "secret", "Cookie": "secret", "X-Key": "secret", "Accept": "text/json",
        ]

        @Test("A redirect within the host keeps the headers", arguments: [301, 302, 303, 307, 308])
        func redirectWithinHost(status: Int) async throws {
            try await TestServer.run({ request in
                request.path == "/b/new" ? .ok("[]") : .status("\(status) X", ["Location: ../b/new"])
            }) { server async throws in
                #expect(try await server.remote("/a/old", headers: secrets).answer().rows == [])
                #expect(server.requests.map(\.path) == ["/a/old", "/b/new"])
                #expect(server.requests.last?.headers["X-Key"] == ["secret"])
            }
        }

        @Test("A redirect to another host drops the headers")
        func redirectToAnotherHost() async throws {
            let back = Switch()
            try await TestServer.run({ request in
                let home = request.path.dropFirst()
                return back.isOn ? .status("302 Found", ["Location: http://127.0.0.1:\(home)/end"]) : .ok("[]")
            }) { other in
                try await TestServer.run({ request in
                    guard request.path != "/end" else { return .ok("[]") }
                    let port = request.headers.first(name: "Host")?.split(separator: ":").last ?? ""
                    return .status("302 Found", ["Location: \(other.origin)/\(port)"])
                }) { server async throws in
                    let remote = server.remote(headers: secrets)
                    #expect(try await remote.answer().rows == [])
                    let names = try #require(other.requests.first?.headers).map { $0.name.lowercased() }
                    #expect(Set(names) == ["host", "accept", "accept-encoding"])
                    #expect(other.requests.first?.headers["Accept"] == ["text/json"])
                    // Who sends a client back doesn't get to use what it may do there.
                    back.isOn = true
                    #expect(try await remote.answer().rows == [])
                    #expect(server.requests.last?.path == "/end")
                    #expect(server.requests.last?.headers["X-Key"] == [])
                }
            }
        }

        @Test("Another name of the host is another host")
        func anotherNameOfHost() async throws {
            try await TestServer.run({ request in
                let port = request.headers.first(name: "Host")?.split(separator: ":").last ?? ""
                return request.path == "/end"
                    ? .ok("[]") : .status("302 Found", ["Location: http://localhost:\(port)/end"])
            }) { server async throws in
                #expect(try await server.remote(headers: secrets).answer().rows == [])
                #expect(server.requests.last?.headers["Authorization"] == [])
            }
        }

        @Test("Five redirects are followed, and no sixth")
        func redirectLimit() async throws {
            try await TestServer.run({ request in
                let count = Int(request.path.dropFirst()) ?? 0
                return count == 0 ? .ok("[]") : .status("302 Found", ["Location: /\(count - 1)"])
            }) { server in
                #expect(try await server.remote("/5").answer().rows == [])
                #expect(server.requests.count == 6)
                let error = try await server.remote("/6").error()
                #expect(error.code == .badRedirect)
                #expect(server.requests.count == 12)
            }
        }

        @Test(
            "Only redirects to HTTP are followed",
            arguments: [
                "ftp://127.0.0.1/", "file:///etc/passwd", "http://ada:secret@127.0.0.1/", "http://",
                "unix:///tmp/secret",
            ])
        func redirectSchemes(location: String) async throws {
            try await TestServer.run({ _ in .status("302 Found", ["Location: \(location)"]) }) { server in
                let error = try await server.remote().error()
                #expect(error.code == .badRedirect)
                #expect(!"\(error)".contains("secret"))
            }
        }

        @Test("A redirect without a location is a status")
        func redirectWithoutLocation() async throws {
            try await TestServer.run({ _ in .status("302 Found") }) { server async throws in
                #expect(try await server.remote().error().status == 302)
            }
        }

        /// `Location` of a 304 says where the rows are, and isn't to be followed.
        @Test("Only redirects are followed")
        func locationOfOtherStatuses() async throws {
            try await TestServer.run({ request in
                request.headers.contains(name: "If-None-Match")
                    ? .raw("304 Not Modified", ["Location: /other"]) : .ok("[]", ["ETag: \"1\"", "Location: /other"])
            }) { server in
                let remote = server.remote()
                let validator = try await remote.answer().validator
                #expect(try await remote.answer(QueryFetch(validator: validator)).isNotModified)
                #expect(server.requests.map(\.path) == ["/", "/"])
            }
        }
    }
#endif
