import StorageKit
import StorageSync

/// A line of `outbox`.
///
/// - `key`, `path`, `table`: The engine, the path of its remote, and the table of its documents.
/// - `active`: Whether the engine uses this path now.
/// - `lost_writes`: Whether the remote has lost writes that the store doesn't keep any more.
/// - `pending`, `parked`, `failures`: Writes that wait, those of them that are parked, and attempts that failed.
/// - `next`: The next attempt; null where there is no back-off.
/// - `writes`: Those that were asked for, an ``OutboxWriteRecord`` each.
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
