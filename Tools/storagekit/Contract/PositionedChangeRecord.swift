import StorageKit

/// An event among those of its commit.
///
/// - `position`: Its position.
/// - ``ChangeRecord``
struct PositionedChangeRecord: JSONRecord {
    let event: StorageEvent
    /// The only columns to report; all if nil.
    var columns: [String]?

    func write(to json: inout JSONWriter) {
        json.member("position", event.position)
        ChangeRecord(change: event, columns: columns).write(to: &json)
    }
}
