import StorageKit
import StorageSync

/// A line of `outbox`.
///
/// - `key`, `path`, `table`: The engine, the path of its remote, and the table of its documents.
/// - `active`: Whether the engine uses this path now.
/// - `lost_writes`: Whether the remote has lost writes that the store doesn't keep any more.
/// - `pending`, `parked`, `failures`: The number of pending writes, of parked ones among them, and of failed attempts.
/// - `next`: The next attempt; null if there is no back-off.
/// - `writes`: The requested writes, an ``OutboxWriteRecord`` each.
struct OutboxRecord: JSONRecord {
    let outbox: OutboxStatus
    let writes: [OutboxWriteRecord]

    func write(to json: inout JSONWriter) throws {
        json.member("key", outbox.manager)
        json.member("path", outbox.path)
        json.member("table", outbox.entity)
        json.member("active", outbox.isActive)
        json.member("lost_writes", outbox.hasLostWrites)
        json.member("pending", outbox.writes.count)
        json.member("parked", outbox.parkedCount)
        json.member("failures", outbox.failures)
        json.member("next", time: outbox.retryTime)
        try json.member("writes", writes)
    }
}
