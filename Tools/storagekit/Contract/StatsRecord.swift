import StorageKit

/// The answer of `stats`.
///
/// - `events`, `commits`: Their numbers.
/// - `segments`, `tail_rows`: The number of sealed segments, and of unsealed ones.
/// - `log_bytes`: The size of the log in the file.
/// - `raw_bytes`: The size of its events, uncompressed.
/// - `file_bytes`, `wal_bytes`: The sizes of the file and of its write-ahead log.
/// - `schema_events`, `tag_events`, `operation_events`: The numbers of the store's own events: of the schema, of tags and notes, of operations.
/// - `entities`: By table, a ``StatsRecord/Table``.
struct StatsRecord: JSONRecord {
    let events: Int64
    let commits: Int64
    let segments: Int64
    let tailRows: Int64
    let logBytes: Int64
    let rawBytes: Int64
    let fileBytes: Int64
    let walBytes: Int64
    let schemaEvents: Int
    let tagEvents: Int
    let operationEvents: Int
    let tables: [(String, Table)]

    func write(to json: inout JSONWriter) throws {
        json.member("events", events)
        json.member("commits", commits)
        json.member("segments", segments)
        json.member("tail_rows", tailRows)
        json.member("log_bytes", logBytes)
        json.member("raw_bytes", rawBytes)
        json.member("file_bytes", fileBytes)
        json.member("wal_bytes", walBytes)
        json.member("schema_events", schemaEvents)
        json.member("tag_events", tagEvents)
        json.member("operation_events", operationEvents)
        try json.member("entities", byName: tables) { try $0.object($1) }
    }

    /// - `rows`: The current number of rows.
    /// - `events`: The number of events of any operation.
    /// - ``CountsRecord``
    /// - `dropped`: Whether the table was dropped.
    struct Table: JSONRecord {
        let rows: Int64
        let counts: CommitSummary.Counts
        let isDropped: Bool

        func write(to json: inout JSONWriter) {
            json.member("rows", rows)
            json.member("events", counts.total)
            CountsRecord(counts: counts).write(to: &json)
            json.member("dropped", isDropped)
        }
    }
}
