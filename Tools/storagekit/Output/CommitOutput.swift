import StorageCore
import StorageLog

/// How commits are shown and written.
extension CommitEntry {
    /// The keys that every line about a commit has, after `v`.
    func write(to json: inout JSONWriter, _ catalog: Catalog) {
        json.key("commit")
        json.integer(info.number)
        json.key("from")
        json.integer(positions.lowerBound)
        json.key("to")
        json.integer(positions.upperBound)
        json.key("time")
        json.time(info.time)
        if let clock = info.clock {
            json.key("clock")
            json.time(clock)
        }
        info.metadata.writeNames(to: &json, alwaysReason: true)
        if !info.metadata.attributes.isEmpty {
            json.key("attributes")
            json.beginObject()
            for (name, value) in info.metadata.attributes.sorted(by: { $0.key < $1.key }) {
                json.key(name)
                json.text(value)
            }
            json.endObject()
        }
        TagText.write(tags, notes, to: &json)
        json.key("changes")
        json.beginObject()
        for (table, counts) in changes(catalog) {
            json.key(table)
            json.beginObject()
            for (name, count) in [("insert", counts.insert), ("update", counts.update), ("delete", counts.delete)] {
                json.key(name)
                json.integer(Int64(count))
            }
            json.endObject()
        }
        json.endObject()
    }

    /// `t:12  @101..@140  2024-05-01T10:00:00Z  anna (web)  tag:release-3`
    var headline: StyledLine {
        var line = StyledLine("t:\(info.number)", .heading)
        line.addWord(CommitText.positions(positions))
        line.addWord(Timestamp.text(info.time))
        line.addWord(CommitText.author(info.metadata))
        for tag in tags { line.addWord("tag:\(tag.name)", .changed) }
        return line
    }
}

extension CommitEntry.Counts {
    /// Adds `+3 ~1 -0`.
    func add(to line: inout StyledLine) {
        line.add("+\(insert)", insert > 0 ? .added : .dim)
        line.add(" ")
        line.add("~\(update)", update > 0 ? .changed : .dim)
        line.add(" ")
        line.add("-\(delete)", delete > 0 ? .removed : .dim)
    }
}

extension CommitMetadata {
    /// Writes who and why. The actor is always there, other keys only if they say something.
    func writeNames(to json: inout JSONWriter, alwaysReason: Bool) {
        json.key("actor")
        actor.map { json.text($0) } ?? json.null()
        if let app {
            json.key("app")
            json.text(app)
        }
        if alwaysReason || reason != nil {
            json.key("reason")
            reason.map { json.text($0) } ?? json.null()
        }
        if let correlation {
            json.key("correlation")
            json.text(correlation)
        }
    }
}

enum CommitText {
    /// `@101..@140`, or `@101` for a single event.
    static func positions(_ positions: ClosedRange<Int64>) -> String {
        positions.count == 1 ? "@\(positions.lowerBound)" : "@\(positions.lowerBound)..@\(positions.upperBound)"
    }

    /// `anna (web)`
    static func author(_ metadata: CommitMetadata) -> String {
        switch (metadata.actor, metadata.app) {
        case (let actor?, let app?): "\(actor) (\(app))"
        case (let actor?, nil): actor
        case (nil, let app?): "(\(app))"
        case (nil, nil): ""
        }
    }

    static func reason(_ metadata: CommitMetadata) -> String { metadata.reason.map { "\"\($0)\"" } ?? "" }
}
