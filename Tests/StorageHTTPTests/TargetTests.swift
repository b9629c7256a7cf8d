#if STORAGE_HTTP
    import Foundation
    import NIOCore
    import Testing

    @testable import StorageHTTP

    /// Which URLs are asked, and what they are compared by.
    @Suite struct TargetTests {
        private func target(_ text: String) throws -> HTTPTarget { try #require(HTTPTarget(text)) }

        @Test("An origin is scheme, host and port")
        func originOfURL() throws {
            let origin = try target("https://api.example.com/tasks").origin
            for same in ["HTTPS://API.example.COM:443/", "https://api.example.com?x#y"] {
                #expect(try target(same).origin == origin, "\(same)")
            }
            let others = [
                "http://api.example.com", "https://api.example.com:444", "https://api.example.com.",
                "https://example.com",
                "https://api.example.com.evil.test", "http://api.example.com:443",
                "https://api.example.com%2eevil.test/",
            ]
            for other in others { #expect(try target(other).origin != origin, "\(other)") }
        }

        @Test("HTTPS is redirected to HTTPS only")
        func redirectFromHTTPS() throws {
            let secure = try target("https://api.example.com/")
            let exchange = HTTPExchange(remote: HTTPRemote(secure.text), target: secure, validator: nil)
            #expect(try exchange.redirection(from: secure, to: "https://other.example.com/").origin.scheme == "https")
            #expect(try exchange.redirection(from: secure, to: "/x").text == "https://api.example.com/x")
            let open = try target("http://api.example.com/")
            #expect(try exchange.redirection(from: open, to: "https://api.example.com/").origin.scheme == "https")
            let error = #expect(throws: HTTPRemoteError.self) {
                try exchange.redirection(from: secure, to: "http://api.example.com/")
            }
            #expect(error?.code == .badRedirect)
        }

        @Test("A connection that is reset was cut off")
        func resetConnection() {
            let remote = HTTPRemote("http://127.0.0.1/")
            #expect(HTTPRemoteError.connection(remote, IOError(errnoCode: ECONNRESET, reason: "read")).code == .cutOff)
            #expect(
                HTTPRemoteError.connection(remote, IOError(errnoCode: ENETUNREACH, reason: "connect")).code
                    == .connectionFailed)
        }
    }
#endif
