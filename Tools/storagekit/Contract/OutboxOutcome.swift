import StorageKit
import StorageSync

/// The outcome of a recorded `outbox retry` or `discard`.
///
/// - `outboxes`: An ``OutboxOutcome/Outbox`` each.
struct OutboxOutcome: JSONRecord {
    /// The outboxes, each with the changed writes.
    let outboxes: [OutboxStatus]

    func write(to json: inout JSONWriter) throws { try json.member("outboxes", outboxes.map(Outbox.init)) }

    /// - `key`, `path`: The engine, and the path of its remote.
    /// - `writes`: The changed writes, an ``OutboxOutcome/Write`` each.
    struct Outbox: JSONRecord {
        let outbox: OutboxStatus

        func write(to json: inout JSONWriter) throws {
            json.member("key", outbox.manager)
            json.member("path", outbox.path)
            try json.member("writes", outbox.writes.map { Write(position: $0.position, document: $0.documentId) })
        }
    }

    /// - `position`: The event that it sends.
    /// - `document`: The id of its document.
    struct Write: JSONRecord {
        let position: Int64
        let document: String

        func write(to json: inout JSONWriter) {
            json.member("position", position)
            json.member("document", document)
        }
    }
}
