import StorageKit

/// The storage that the log uses for some events; segments are compressed as a whole, so neighbouring events count, too.
///
/// - `rows`: The number of segments.
/// - `sealed`: The number of sealed ones.
/// - `from`, `to`: Their first and last position.
/// - `bytes`: Their size in the file.
/// - `raw_bytes`: Their size uncompressed.
struct StoredRowsRecord: JSONRecord {
    let rows: LogUsage

    func write(to json: inout JSONWriter) {
        json.member("rows", rows.count)
        json.member("sealed", rows.sealed)
        json.member("from", rows.positions?.lowerBound ?? 0)
        json.member("to", rows.positions?.upperBound ?? 0)
        json.member("bytes", rows.bytes)
        json.member("raw_bytes", rows.rawBytes)
    }
}
