import StorageCore
import StorageLog

/// How a list of tags or notes tells what they point to and who set them.
enum TaggedPointOutput {
    /// The position, and the commit at it; null where the position is the time before everything.
    static func write(_ position: Int64, _ commit: CommitInfo?, to json: inout JSONWriter) {
        json.key("position")
        json.integer(position)
        json.key("commit")
        commit.map { json.integer($0.number) } ?? json.null()
        json.key("time")
        commit.map { json.time($0.time) } ?? json.null()
    }

    /// Who changed the tag or note last.
    static func write(set commit: CommitInfo, to json: inout JSONWriter) {
        json.key("set")
        json.beginObject()
        json.key("commit")
        json.integer(commit.number)
        json.key("time")
        json.time(commit.time)
        commit.metadata.writeNames(to: &json, alwaysReason: true)
        json.endObject()
    }
}
