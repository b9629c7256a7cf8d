#if STORAGE_SERVER
    import AsyncHTTPClient
    import Foundation
    import NIOCore
    import NIOHTTP1
    import StorageKit
    import TestSupport
    import Testing

    /// `Examples/Service` as a process: what its README shows.
    @Suite(.timeLimit(.minutes(10))) struct ServiceExampleTests {
        private struct Ticket: Codable, Equatable {
            var id: String
            var title: String
            var assignee: String?
            var isDone: Bool
        }

        private struct Version: Decodable {
            let operation: String
            let actor: String?
            let reason: String?
            let correlation: String?
            let ticket: Ticket?
        }

        private let folder: TemporaryFolder
        private let process: LineProcess
        private let url: String

        init() async throws {
            folder = try TemporaryFolder()
            process = try LineProcess("tickets", [folder.path("data"), "0"])
            let line = try #require(await process.next { $0.hasPrefix("Serving on ") }.last)
            url = String(line.dropFirst("Serving on ".count))
        }

        @discardableResult
        private func send(
            _ method: String, _ path: String, _ body: Ticket? = nil, headers: [String: String] = ["X-User": "anna"]
        ) async throws -> (status: UInt, body: Data, request: String?) {
            var request = HTTPClientRequest(url: url + path)
            request.method = .init(rawValue: method)
            for (name, value) in headers { request.headers.add(name: name, value: value) }
            if let body {
                request.headers.add(name: "Content-Type", value: "application/json")
                request.body = .bytes(try JSONEncoder().encode(body))
            }
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
            let bytes = try await response.body.collect(upTo: 1 << 20)
            return (response.status.code, Data(bytes.readableBytesView), response.headers.first(name: "X-Request-Id"))
        }

        private func tickets(_ path: String) async throws -> [Ticket] {
            try await JSONDecoder().decode([Ticket].self, from: send("GET", path).body)
        }

        @Test("It serves tickets, their live list, their past and backups, and ends in order")
        func service() async throws {
            let door = Ticket(id: "1", title: "Door squeaks", assignee: nil, isDone: false)
            // The stream begins with what there is, and reports each change.
            let stream = try await HTTPClient.shared.execute(
                HTTPClientRequest(url: url + "/tickets/live"), timeout: .seconds(60))
            #expect(stream.headers.first(name: "Content-Type") == "text/event-stream")
            var events = stream.body.makeAsyncIterator()
            var pending = ""
            func next() async throws -> [Ticket] {
                while !pending.contains("\n\n") {
                    pending += try await events.next().map { String(buffer: $0) } ?? "data: null\n\n"
                }
                let end = try #require(pending.range(of: "\n\n"))
                let event = pending[..<end.lowerBound].dropFirst("data: ".count)
                pending.removeSubrange(..<end.upperBound)
                return try JSONDecoder().decode([Ticket].self, from: Data(event.utf8))
            }
            #expect(try await next() == [])

            #expect(try await send("PUT", "/tickets/1", door, headers: [:]).status == 401)
            #expect(try await send("PUT", "/tickets/2", door).status == 400)
            let headers = ["X-User": "anna", "X-Reason": "call", "X-Request-Id": "r-7"]
            let saved = try await send("PUT", "/tickets/1", door, headers: headers)
            #expect(saved.status == 200)
            #expect(saved.request == "r-7")
            #expect(try await next() == [door])
            #expect(try await tickets("/tickets") == [door])
            let first = try JSONDecoder().decode([String: Int].self, from: saved.body)["commit"] ?? 0
            var done = door
            (done.assignee, done.isDone) = ("ben", true)
            #expect(try await send("PUT", "/tickets/1", done, headers: ["X-User": "ben"]).request?.isEmpty == false)
            #expect(try await next() == [])
            #expect(try await tickets("/tickets?at=\(first)") == [door])
            let time = Date(timeIntervalSinceNow: -3_600).formatted(.iso8601)
            #expect(try await tickets("/tickets?at=\(time)") == [], "before the first commit")
            #expect(try await send("GET", "/tickets?at=soon").status == 400)
            #expect(try await send("DELETE", "/tickets/1").status == 200)
            #expect(try await send("GET", "/tickets/1").status == 404)

            let versions = try await JSONDecoder().decode([Version].self, from: send("GET", "/tickets/1/history").body)
            #expect(versions.map(\.operation) == ["insert", "update", "delete"])
            #expect(versions.map(\.actor) == ["anna", "ben", "anna"])
            #expect(versions.first?.reason == "call")
            #expect(versions.first?.correlation == "r-7")
            #expect(versions.map(\.ticket) == [door, done, nil])
            #expect(try await send("GET", "/tickets/9/history").status == 404)

            #expect(try await send("POST", "/backups").status == 200)
            // The stream is open still: it ends with the service.
            process.kill(SIGTERM)
            #expect(process.end() == 0)
            #expect(try await events.next() == nil)
            let backups = try FileManager.default.contentsOfDirectory(atPath: folder.path("data/backups"))
            let backup = try #require(backups.first { $0.hasSuffix(".sqlite") })
            for path in ["data/tickets.sqlite", "data/backups/\(backup)"] {
                let storage = try Storage.open(path: folder.path(path))
                #expect(try await storage.verify().findings.isEmpty, "\(path)")
                try await storage.close()
            }
        }
    }
#endif
