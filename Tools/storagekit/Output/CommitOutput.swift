import StorageKit

extension AnnotatedCommit {
    /// `t:12  @101..@140  2024-05-01T10:00:00Z  anna (web)  tag:release-3`
    var headline: StyledLine { CommitText.headline(info, at: positions, tags: tags) }
}

extension CommitSummary.Counts {
    /// Adds `+3 ~1`: zero counts are omitted.
    func add(to line: inout StyledLine) {
        for (index, part) in parts.enumerated() { line.add((index > 0 ? " " : "") + part.text, part.role) }
    }

    /// `+3 ~1`
    var text: String { parts.map(\.text).joined(separator: " ") }

    private var parts: [(text: String, role: Style.Role)] {
        let all: [(sign: String, count: Int, role: Style.Role)] = [
            ("+", insert, .added), ("~", update, .changed), ("-", delete, .removed),
        ]
        return all.filter { $0.count > 0 }.map { ("\($0.sign)\($0.count)", $0.role) }
    }
}

extension StyledLine {
    /// Adds `@101..@140`, or `@101` for a single event.
    mutating func add(positions: ClosedRange<Int64>) {
        add(.position(positions.lowerBound))
        guard positions.count > 1 else { return }
        add("..")
        add(.position(positions.upperBound))
    }
}

enum CommitText {
    /// `t:12  @101..@140  2024-05-01T10:00:00Z  anna (web)  tag:release-3`
    ///
    /// - Parameter positions: Nil if there is no room for them.
    static func headline(_ info: CommitInfo, at positions: ClosedRange<Int64>?, tags: [StorageTag] = []) -> StyledLine {
        var line = StyledLine(.commit(info.number), .heading)
        if let positions {
            line.add("  ")
            line.add(positions: positions)
        }
        line.addWord(Timestamp.shown(info.time))
        line.addWord(author(info.metadata))
        for tag in tags { line.addWord(.tag(tag.name), .changed) }
        return line
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
