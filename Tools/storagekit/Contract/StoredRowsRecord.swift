import StorageKit

/// How much the log takes for some events; rows of the log are compressed as a whole, so neighbours count too.
///
/// - `rows`: Rows of the log.
/// - `sealed`: How many of them are sealed.
/// - `from`, `to`: The first and the last position in them.
/// - `bytes`: In the file.
/// - `raw_bytes`: Uncompressed.
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
