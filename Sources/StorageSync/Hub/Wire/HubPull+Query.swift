internal import StorageCore

/// A request for a hub's history, as the query of a URL.
package struct HubChangesQuery: Sendable, Equatable {
    package var pull: HubPull
    /// Whether a stream continues after the existing changes were sent.
    package var follows = true

    package init(_ pull: HubPull, follows: Bool = true) {
        self.pull = pull
        self.follows = follows
    }

    /// - Throws: ``QueryItems/Malformed``.
    package init(_ items: QueryItems) throws(QueryItems.Malformed) {
        let entities = items.values("collection")
        guard !entities.isEmpty else { throw .init(name: "collection", problem: "is missing") }
        pull = HubPull(behind: try items.integer("after") ?? 0, of: Set(entities))
        if let text = try items.value("line") {
            guard let line = Hexadecimal.bytes(text), line.count == HubPull.lineLength else {
                throw .init(name: "line", problem: "isn't \(2 * HubPull.lineLength) hexadecimal digits")
            }
            pull.line = line
        }
        pull.producer = try items.value("producer").map { ProducerID($0) }
        pull.document = try items.value("document")
        if let limit = try items.integer("limit") {
            guard limit > 0 else { throw .init(name: "limit", problem: "isn't 1 or more") }
            pull.limit = Int(limit)
        }
        pull.wait = .seconds(try items.integer("wait") ?? 0)
        pull.lastPosition = try items.integer("through")
        follows = try items.bool("follow") ?? (pull.lastPosition == nil)
        guard pull.lastPosition == nil || !follows && pull.wait == .zero else {
            throw .init(name: "through", problem: "ends the answer, so that nothing can be waited for or followed")
        }
    }

    package var items: QueryItems {
        var items = QueryItems()
        for entity in pull.entities.sorted() { items.add("collection", entity) }
        items.add("after", String(pull.position))
        if let last = pull.lastPosition { items.add("through", String(last)) }
        if let line = pull.line { items.add("line", Hexadecimal.text(line)) }
        if let producer = pull.producer { items.add("producer", producer.value) }
        if let document = pull.document { items.add("document", document) }
        items.add("limit", String(pull.limit))
        if pull.wait > .zero { items.add("wait", String(pull.wait.components.seconds)) }
        if !follows { items.add("follow", "false") }
        return items
    }
}

extension HubPull {
    /// The number of bytes in the id of a line.
    package static let lineLength = 16
}
