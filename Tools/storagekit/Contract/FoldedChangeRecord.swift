import StorageKit

/// A line of `replay --projection`: a change of a row of the projection.
///
/// - `projection`: `true`.
/// - `position`: The position up to which events were applied.
/// - ``ChangeRecord``
struct FoldedChangeRecord: JSONRecord {
    let change: RowDifference
    let position: Int64

    func write(to json: inout JSONWriter) {
        json.member("projection", true)
        json.member("position", position)
        ChangeRecord(change: change).write(to: &json)
    }
}
