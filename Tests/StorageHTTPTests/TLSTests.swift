#if STORAGE_HTTP && STORAGE_SERVER
    import AsyncHTTPClient
    import Foundation
    import StorageHTTP
    import Testing

    /// Remotes behind TLS, over HTTP/1 and HTTP/2.
    @Suite struct TLSTests {
        private static let rows = [
            Chore(id: 1, title: "sweep"), Chore(id: 2, title: "cook"), Chore(id: 3, title: "mow"),
        ]

        @Test("Rows come from a server whose certificate is trusted", arguments: TLSServer.Version.allCases)
        func trustedCertificate(version: TLSServer.Version) async throws {
            try await TLSServer.run(version, rows: Self.rows) { server async throws in
                let remote = server.remote(server.trusting)
                let answer = try await remote.answer()
                #expect(answer.rows == Self.rows)
                let validator = try #require(answer.validator)
                #expect(try await remote.answer(QueryFetch(validator: validator)).isNotModified)
                #expect(server.requests.map(\.isHTTP2) == [version == .http2, version == .http2])
                #expect(server.requests.map(\.hasCondition) == [false, true])
            }
        }

        /// HTTP/2 is spoken where the server offers it, unless the client's configuration says otherwise.
        @Test("A client can be limited to HTTP/1")
        func limitedToHTTP1() async throws {
            try await TLSServer.run(.http2, rows: Self.rows) { server async throws in
                var configuration = server.trusting
                configuration.httpVersion = .http1Only
                #expect(try await server.remote(configuration).answer().rows == Self.rows)
                #expect(server.requests.map(\.isHTTP2) == [false])
            }
        }

        @MainActor
        @Test("Pages are merged into a store", arguments: TLSServer.Version.allCases)
        func pages(version: TLSServer.Version) async throws {
            try await TLSServer.run(version, rows: Self.rows) { server async throws in
                let home = try Household()
                let source = QuerySource(Household.all, name: "chores").remote(
                    server.remote(server.trusting, "/pages"))
                try await home.container.refresh(source)
                #expect(try await home.stored() == Self.rows)
                #expect(server.requests.map(\.path) == ["/pages", "/pages"])
            }
        }

        @Test("A certificate of an unknown authority is reported", arguments: TLSServer.Version.allCases)
        func unknownCertificateAuthority(version: TLSServer.Version) async throws {
            try await TLSServer.run(version, rows: Self.rows) { server async throws in
                // With the system's certificates, and with those of another server.
                try await TLSServer.run(.http1) { other async throws in
                    for configuration in [HTTPClient.Configuration(), other.trusting] {
                        let error = try await server.remote(configuration).error()
                        #expect(error.code == .untrusted, "\(error)")
                        #expect(!error.isRefusal, "\(error)")
                        #expect(
                            error.message
                                == "The certificate of \(server.origin)/rows has expired, or isn't signed by an authority that the client trusts."
                        )
                        #expect(error.remedy.contains("tlsConfiguration"))
                    }
                }
                #expect(server.requests.isEmpty)
            }
        }

        @Test("A certificate of another host is reported")
        func certificateOfAnotherHost() async throws {
            for name in ["IP:127.0.0.2", "DNS:example.com"] {
                try await TLSServer.run(.http2, name: name, rows: Self.rows) { server async throws in
                    let error = try await server.remote(server.trusting).error()
                    #expect(error.code == .untrusted, "\(error)")
                    #expect(
                        error.message == "The certificate of \(server.origin)/rows belongs to another host.")
                    #expect(server.requests.isEmpty)
                }
            }
        }
    }
#endif
