#if STORAGE_SERVER
    import Foundation
    import NIOHTTP1
    import Testing

    /// The result of a live query, as a client makes it of events: documents as texts, read without the hub's own code.
    struct LiveResult: Equatable {
        private(set) var documents: [String] = []
        private(set) var position: Int64 = 0
        /// Of the last event.
        private(set) var id: String?
        /// The number of steps of the last difference.
        private(set) var stepCount = 0

        var ids: [String] {
            documents.map { text in
                let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
                return object?["id"] as? String ?? ""
            }
        }

        static func == (left: Self, right: Self) -> Bool { left.documents == right.documents }

        init() {}

        /// The result of a query that isn't live.
        init(answer: String) throws {
            let object = try Self.object(answer)
            position = try #require(object["position"] as? Int64)
            documents = try #require(object["documents"] as? [[String: Any]]).map(Self.text)
        }

        /// - Returns: Whether the event has changed the documents.
        @discardableResult
        mutating func apply(_ event: EventReader.Event) throws -> Bool {
            let object = try Self.object(event.data)
            switch event.name {
            case "snapshot": documents = try #require(object["documents"] as? [[String: Any]]).map(Self.text)
            case "difference":
                let steps = try #require(object["changes"] as? [[String: Any]])
                #expect(!steps.isEmpty)
                for step in steps { try apply(step) }
                stepCount = steps.count
            case "position": break
            default: Issue.record("an event \(event.name) has come: \(event.data)")
            }
            let reached = try #require(object["position"] as? Int64)
            #expect(reached >= position, "positions never go back")
            position = reached
            id = event.id
            #expect(id != nil)
            return event.name != "position"
        }

        private mutating func apply(_ step: [String: Any]) throws {
            if let document = step["insert"] as? [String: Any] {
                let index = try #require(step["at"] as? Int)
                try #require((0...documents.count).contains(index))
                documents.insert(try Self.text(document), at: index)
            } else if let document = step["update"] as? [String: Any] {
                let index = try #require(step["at"] as? Int)
                try #require(documents.indices.contains(index))
                documents[index] = try Self.text(document)
            } else if let document = step["move"] as? [String: Any] {
                let (from, to) = (try #require(step["from"] as? Int), try #require(step["to"] as? Int))
                try #require(documents.indices.contains(from) && documents.indices.contains(to))
                documents.remove(at: from)
                documents.insert(try Self.text(document), at: to)
            } else {
                let index = try #require(step["remove"] as? Int)
                try #require(documents.indices.contains(index))
                documents.remove(at: index)
            }
        }

        private static func object(_ text: String) throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        }

        /// A document without its version, with sorted keys.
        static func text(_ document: [String: Any]) throws -> String {
            let part = document.filter { ["id", "fields"].contains($0.key) }
            return String(
                decoding: try JSONSerialization.data(withJSONObject: part, options: .sortedKeys), as: UTF8.self)
        }
    }

    extension ServedHub {
        /// Follows a query.
        ///
        /// - Parameter id: That of the last event, to resume after it.
        func live(
            _ query: String, of collection: String = "notes", token: String, after id: String? = nil
        ) async throws -> EventReader {
            try await events(
                "/v1/collections/\(collection)/query", token: token, body: query,
                headers: id.map { ["Last-Event-ID": $0] } ?? [:])
        }

        /// The result of a query now.
        func result(
            of query: String, in collection: String = "notes", token: String
        ) async throws -> LiveResult {
            let answer = try await send(.POST, "/v1/collections/\(collection)/query", token: token, body: query)
            try #require(answer.status == 200, "\(answer.body)")
            return try LiveResult(answer: answer.body)
        }
    }

    extension EventReader {
        /// Applies events until a result is as expected.
        mutating func apply(to result: inout LiveResult, until isReached: (LiveResult) -> Bool) async throws {
            while !isReached(result) {
                let event = try #require(try await next())
                try result.apply(event)
            }
        }
    }
#endif
