import StorageKit

/// The answer of `show` for an event.
///
/// - ``EventRecord``
/// - `previous`: The position of the row's previous event; 0 for its first.
/// - ``AnnotationRecord``
/// - `stored`: A ``StoredRowsRecord``.
struct ShownEventRecord: JSONRecord {
    let event: StorageEvent
    /// The only columns to report; all if nil.
    var columns: [String]?
    let annotations: AnnotationRecord
    let stored: LogUsage

    func write(to json: inout JSONWriter) throws {
        EventRecord(event: event, columns: columns).write(to: &json)
        json.member("previous", event.previous)
        annotations.write(to: &json)
        try json.member("stored", StoredRowsRecord(rows: stored))
    }
}
