import StorageCore
import StorageKit

extension CommitText {
    /// Returns the fields of a commit; unknown ones are empty.
    static func fields(of entry: AnnotatedCommit, _ stored: LogUsage) -> [(String, String)] {
        let metadata = entry.info.metadata
        let head: [(String, String)] = [
            ("commit", "t:\(entry.info.number)"), ("events", entry.positions.positionText),
            ("time", Timestamp.shown(entry.info.time)), ("actor", metadata.actor ?? ""), ("app", metadata.app ?? ""),
            ("reason", metadata.reason ?? ""),
        ]
        let changes = entry.changes.map { table, counts in ("changes", "\(table) \(counts.text)") }
        let tags = TagText.fields(entry.tags, entry.notes)
        let all = head + details(entry.info) + tags + changes + [("stored", stored.text)]
        return all.filter { !$0.1.isEmpty }
    }

    /// Returns the less common fields of a commit's header.
    static func details(_ commit: CommitInfo) -> [(String, String)] {
        let metadata = commit.metadata
        return [
            ("clock", commit.clock.map(Timestamp.text) ?? ""), ("correlation", metadata.correlation ?? ""),
            ("key", metadata.idempotencyKey ?? ""),
        ]
            + metadata.attributes.sorted { $0.key < $1.key }.map { ("attribute", "\($0.key) = \($0.value)") }
    }
}

extension LogUsage {
    /// `1 row of the log, @1..@40, sealed: 1,200 bytes, 4,000 uncompressed`
    var text: String {
        let kind = sealed == count ? "sealed" : sealed == 0 ? "not yet sealed" : "partly sealed"
        let rows = NumberText.count(count, "row")
        let grouped = { (number: Int64) in NumberText.grouped(Int(number)) }
        let location = positions.map(\.positionText) ?? ""
        return "\(rows) of the log, \(location), \(kind): \(grouped(bytes)) bytes, \(grouped(rawBytes)) uncompressed"
    }
}
