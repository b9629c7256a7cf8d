#if STORAGE_HTTP
    import Foundation
    import NIOHTTP1
    import StorageSync
    import Synchronization

    /// A REST service in memory: collections of JSON objects, with entity tags and idempotency keys. It answers what a `TestServer` is asked,
    /// and fails on demand.
    final class RESTServer: Sendable {
        /// What becomes of a request.
        enum Fault: Sendable {
            /// It is answered by this, and has no effect.
            case reply(Reply)
            /// It has its effect, and this is what comes back: a cut or lost answer.
            case effect(Reply)
        }

        struct Write: Sendable, Equatable {
            let method: String
            let path: String
            let key: String?
        }

        fileprivate struct Document {
            var json: [String: JSONValue]
            var version: Int
        }

        fileprivate struct State {
            var documents: [String: [String: Document]] = [:]
            var version = 0
            var fault: @Sendable (TestServer.Request) -> Fault? = { _ in nil }
            var applied: [Write] = []
            var received: [Write] = []
            var replies: [String: Reply] = [:]
            var pageSize: Int?
        }

        private let state = Mutex(State())
        private let hasTags: Bool

        /// - Parameter hasTags: Whether documents and collections have entity tags.
        init(hasTags: Bool = true) { self.hasTags = hasTags }

        /// Decides what fails, from now on.
        func fails(_ fault: @escaping @Sendable (TestServer.Request) -> Fault?) {
            state.withLock { $0.fault = fault }
        }

        func worksAgain() { fails { _ in nil } }

        /// The writes that had an effect, in their order, and all that have come.
        var applied: [Write] { state.withLock { $0.applied } }
        var received: [Write] { state.withLock { $0.received } }

        func split(pagesOf size: Int) { state.withLock { $0.pageSize = size } }

        /// Puts a document where it is, as another client would.
        func put(_ id: String, _ json: String, in collection: String) {
            let object = Self.object(Data(json.utf8)) ?? [:]
            state.withLock { $0.put(id, object, in: collection) }
        }

        func remove(_ id: String, in collection: String) {
            state.withLock { state in
                state.version += 1
                state.documents[collection]?[id] = nil
            }
        }

        /// A collection's documents as JSON with sorted keys, by id.
        func documents(_ collection: String) -> [String] {
            state.withLock { state in
                (state.documents[collection] ?? [:]).sorted { $0.key < $1.key }.map { Self.text($0.value.json) }
            }
        }

        func answer(_ request: TestServer.Request) -> Reply {
            let write = Write(
                method: request.method, path: request.path, key: request.headers.first(name: "Idempotency-Key"))
            let fault = state.withLock { state in
                if request.method != "GET" { state.received.append(write) }
                return state.fault
            }
            // Outside of the lock: it may change documents.
            switch fault(request) {
            case .reply(let reply): return reply
            case .effect(let reply):
                _ = state.withLock { respond(request, write, &$0) }
                return reply
            case nil: return state.withLock { respond(request, write, &$0) }
            }
        }

        private func respond(_ request: TestServer.Request, _ write: Write, _ state: inout State) -> Reply {
            if let key = write.key, let before = state.replies[key] { return before }
            let path = String(request.path.prefix { $0 != "?" })
            let query = request.path.contains("?") ? String(request.path.drop { $0 != "?" }.dropFirst()) : ""
            let reply: Reply
            if state.documents[path] != nil, request.method == "GET" {
                reply = collection(path, query, request, &state)
            } else {
                reply = document(path, request, write, &state)
            }
            if let key = write.key { state.replies[key] = reply }
            return reply
        }

        private func collection(
            _ path: String, _ query: String, _ request: TestServer.Request, _ state: inout State
        ) -> Reply {
            let tag = "\"c\(state.version)\""
            if hasTags, request.headers.first(name: "If-None-Match") == tag { return .status("304 Not Modified") }
            var all = (state.documents[path] ?? [:]).sorted { $0.key < $1.key }
            var headers = hasTags ? ["ETag: \(tag)"] : []
            for item in query.split(separator: "&") where item.contains("=") {
                let parts = item.split(separator: "=", maxSplits: 1).map(String.init)
                let (name, value) = (parts[0], parts.count > 1 ? parts[1] : "")
                if name == "after" {
                    all.removeAll { $0.key <= value }
                } else {
                    all.removeAll { Self.text($0.value.json[name]) != value }
                }
            }
            if let size = state.pageSize, all.count > size {
                all = Array(all.prefix(size))
                headers.append("Link: <?after=\(all.last?.key ?? "")>; rel=\"next\"")
            }
            return .ok("[\(all.map { Self.text($0.value.json) }.joined(separator: ","))]", headers)
        }

        private func document(
            _ path: String, _ request: TestServer.Request, _ write: Write, _ state: inout State
        ) -> Reply {
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            let id = (parts.last.map(String.init) ?? "").removingPercentEncoding ?? ""
            let place = parts.dropLast().joined(separator: "/")
            let known = state.documents[place]?[id]
            let tag = known.map { "\"\($0.version)\"" }
            if let wanted = request.headers.first(name: "If-Match"), wanted != tag {
                return .status("412 Precondition Failed")
            }
            if request.method != "GET", request.headers.first(name: "If-None-Match") == "*", known != nil {
                return .status("412 Precondition Failed")
            }
            switch request.method {
            case "GET":
                guard let known else { return .status("404 Not Found") }
                if hasTags, request.headers.first(name: "If-None-Match") == tag {
                    return .status("304 Not Modified")
                }
                return .ok(Self.text(known.json), hasTags ? ["ETag: \(tag ?? "")"] : [])
            case "PUT":
                guard let object = Self.object(request.body) else { return .status("400 Bad Request") }
                state.put(id, object, in: place)
            case "PATCH":
                guard let patch = Self.object(request.body) else { return .status("400 Bad Request") }
                guard var object = known?.json else { return .status("404 Not Found") }
                for (name, value) in patch { object[name] = value == .null ? nil : value }
                state.put(id, object, in: place)
            case "DELETE":
                guard known != nil else { return .status("404 Not Found") }
                state.version += 1
                state.documents[place]?[id] = nil
            default: return .status("405 Method Not Allowed")
            }
            state.applied.append(write)
            return .status("204 No Content")
        }

        private static func object(_ data: Data) -> [String: JSONValue]? {
            try? JSONDecoder().decode([String: JSONValue].self, from: data)
        }

        private static func text(_ object: [String: JSONValue]) -> String {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return (try? encoder.encode(object)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
        }

        /// As it is written in a URL.
        private static func text(_ value: JSONValue?) -> String {
            switch value {
            case .string(let text): text
            case .integer(let number): "\(number)"
            default: ""
            }
        }
    }

    extension RESTServer.State {
        fileprivate mutating func put(_ id: String, _ object: [String: JSONValue], in collection: String) {
            version += 1
            documents[collection, default: [:]][id] = RESTServer.Document(json: object, version: version)
        }
    }
#endif
