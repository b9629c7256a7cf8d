import StorageKit

/// An event among those of its commit.
///
/// - `position`: Its position.
/// - ``ChangeRecord``
struct PositionedChangeRecord: JSONRecord {
    let event: StorageEvent

    func write(to json: inout JSONWriter) {
        json.member("position", event.position)
        ChangeRecord(change: event).write(to: &json)
    }
}
