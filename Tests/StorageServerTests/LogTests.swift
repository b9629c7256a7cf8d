#if STORAGE_SERVER
    import Foundation
    import Logging
    import NIOHTTP1
    import StorageCore
    import Synchronization
    import Testing

    @testable import StorageServer
    @testable import StorageSync

    /// What a server's log says, and what it doesn't.
    @Suite(.timeLimit(.minutes(10))) struct LogTests {
        /// Keeps all that is logged, at all levels.
        private struct Recorder: LogHandler {
            final class Lines: Sendable {
                private let state = Mutex<[String]>([])
                var all: [String] { state.withLock { $0 } }
                func add(_ line: String) { state.withLock { $0.append(line) } }
            }

            let lines: Lines
            var metadata: Logger.Metadata = [:]
            var logLevel = Logger.Level.trace

            subscript(metadataKey key: String) -> Logger.MetadataValue? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) {
                lines.add("\(event.level) \(event.message) \(metadata) \(event.metadata ?? [:])")
            }
        }

        @Test("Payloads aren't logged")
        func payloadsAreNotLogged() async throws {
            let lines = Recorder.Lines()
            let logger = Logger(label: "test") { _ in Recorder(lines: lines) }
            let mark = "m4rk3r"
            try await ServedHub.run(logger: logger) { hub in
                let token = try await hub.token()
                let secret = try #require(token.split(separator: "_").last)
                let path = "/v1/collections/\(mark)/documents/\(mark)"
                let body = #"{"\#(mark)":"\#(mark)","n":1e400}"#
                var statuses: Set<Int> = []
                func send(_ method: String, _ path: String, _ body: String? = nil, token: String) async throws {
                    let headers = ["Idempotency-Key": "\(mark)\(UUID())", "X-Mark": mark]
                    let answer = try await hub.send(
                        .init(rawValue: method), path, token: token, body: body, headers: headers)
                    statuses.insert(answer.status)
                }
                func sendAll() async throws {
                    try await send("PUT", path, body, token: token)
                    try await send("PUT", path, #"{"\#(mark)":"#, token: token)
                    try await send("PUT", path, #"{"id":"\#(mark)2"}"#, token: token)
                    try await send("GET", path, token: token)
                    try await send("GET", path, token: "sk_\(mark)")
                    try await send("GET", "/\(mark)?\(mark)=\(mark)", token: token)
                    try await send("GET", "/v1/changes?collection=\(mark)&line=\(mark)", token: token)
                    try await send(
                        "POST", "/v1/collections/\(mark)/query",
                        #"{"filters":[{"field":"\#(mark)","operator":"equal","value":"\#(mark)"}]}"#, token: token)
                    try await send("POST", "/v1/sync/hello", #"{"producer":"\#(mark)","epoch":1}"#, token: token)
                }
                try await sendAll()
                try await hub.storage.close()
                try await sendAll()
                #expect(statuses.isSuperset(of: [200, 201, 400, 401, 404, 422, 503]), "\(statuses)")
                #expect(lines.all.contains { $0.contains("debug request") && $0.contains("201") }, "it does log")
                #expect(lines.all.contains { $0.contains("error request failed") && $0.contains("closed") })
                for line in lines.all {
                    #expect(!line.contains(mark), "\(line)")
                    #expect(!line.contains(secret), "\(line)")
                }
            }
        }

        /// The texts of other errors may quote what was stored.
        @Test("Only failures of the store are logged with their texts")
        func loggedErrors() {
            let invalid = StorageError(.invalidValue, "The JSON m4rk3r isn't a number.", remedy: "m4rk3r")
            #expect(HubRoutes.loggable(invalid).hasPrefix("invalid-value (StorageServerTests/LogTests.swift:"))
            let failed = StorageError(.ioError, "The disk is full.", remedy: "Make room.", cause: invalid)
            #expect(HubRoutes.loggable(failed).contains("full"))
            #expect(!HubRoutes.loggable(failed).contains("m4rk3r"))
            let unknown = DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "m4rk3r"))
            #expect(HubRoutes.loggable(unknown) == "Swift.DecodingError")
        }
    }
#endif
