import StorageKit

/// What `rebuild --abandon` discards and records.
///
/// - `unfinished`: Tables of interrupted rebuilds.
/// - `kept`: Tables whose old version was kept.
/// - `projections`: Projections of interrupted rebuilds.
struct LeftoversRecord: JSONRecord {
    let leftovers: RebuildLeftovers

    func write(to json: inout JSONWriter) {
        json.member("unfinished", leftovers.unfinished)
        json.member("kept", leftovers.kept)
        json.member("projections", leftovers.projections)
    }
}
