import StorageKit

/// A line of `replay --watch`: a cell that changes.
///
/// - `watch`: The cell as it is typed.
/// - `position`, `commit`: The event and the commit that change it.
/// - `old`, `new`: The value before and after; null if there is no row.
struct WatchedCellRecord: JSONRecord {
    let cell: TargetArgument
    let event: StorageEvent
    let old: StorageEvent.Field?
    let new: StorageEvent.Field?

    func write(to json: inout JSONWriter) {
        json.member("watch", cell.description)
        json.member("position", event.position)
        json.member("commit", event.commit.number)
        json.member("old", old)
        json.member("new", new)
    }
}
