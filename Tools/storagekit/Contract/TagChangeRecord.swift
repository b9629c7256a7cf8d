import StorageKit

/// The answer of `tag` and `note` for a change.
///
/// - `dry_run`: Whether nothing was changed.
/// - `commit`: The commit of the change, or null.
/// - `tag`: The tag's name; absent for a note.
/// - `change`: `made`, `moved`, `annotated`, `removed` or `none`.
/// - `position`: The position that it points to, or pointed to.
/// - `from`: The previous position of a moved tag.
struct TagChangeRecord: JSONRecord {
    let report: TagReport
    /// nil for a note.
    let tag: String?
    let isDryRun: Bool

    func write(to json: inout JSONWriter) {
        json.member("dry_run", isDryRun)
        json.member("commit", report.receipt?.commit)
        if let tag { json.member("tag", tag) }
        json.member("change", report.change.name)
        json.member("position", report.position)
        if case .moved(let from) = report.change { json.member("from", from) }
    }
}

extension TagReport.Change {
    fileprivate var name: String {
        switch self {
        case .made: "made"
        case .moved: "moved"
        case .annotated: "annotated"
        case .removed: "removed"
        case .none: "none"
        }
    }
}
