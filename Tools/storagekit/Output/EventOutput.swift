import StorageKit

extension StorageEvent {
    static let cellTitles = [
        "position", "commit", "time", "actor", "app", "reason", "op", "table", "id", "column", "old", "new",
    ]

    /// Returns the event for CSV and Markdown: a row for each changed column.
    func cells(only columns: [String]? = nil) -> [[String?]] {
        let metadata = commit.metadata
        let head: [String?] = [
            String(position), String(commit.number), Timestamp.text(commit.time), metadata.actor, metadata.app,
            metadata.reason, operation.rawValue, table, id,
        ]
        let changes = changedColumns(only: columns)
        guard !changes.isEmpty else { return [head + [nil, nil, nil]] }
        return changes.map { change in
            head + [change.column, change.old.flatMap(ValueText.cell), change.new.flatMap(ValueText.cell)]
        }
    }

}

extension StorageEvent.Operation {
    var sign: String {
        switch self {
        case .insert: "+"
        case .update: "~"
        case .delete: "-"
        }
    }

    var role: Style.Role {
        switch self {
        case .insert: .added
        case .update: .changed
        case .delete: .removed
        }
    }
}

extension PrintableChange {
    /// `~ status  open → closed`, a line for each column.
    ///
    /// - Parameters:
    ///   - columns: The only ones; all if nil.
    ///   - notes: Texts to append to the columns' values, in the order of `changedColumns`.
    ///   - isWhole: Whether long blobs are shown in full.
    func columnLines(
        indent: Int, only columns: [String]? = nil, notes: [String] = [], isWhole: Bool = false
    ) -> [StyledLine] {
        let changes = changedColumns(only: columns)
        let widest = min(changes.map { DisplayWidth.of(TerminalText.visible($0.column)) }.max() ?? 0, 24)
        return changes.enumerated().map { index, change in
            var line = StyledLine(String(repeating: " ", count: indent))
            line.add(operation.sign, operation.role)
            let name = TerminalText.visible(change.column)
            line.add(shown: " \(name)" + String(repeating: " ", count: max(widest - DisplayWidth.of(name), 0) + 2))
            line.add(Self.values(change.old, change.new, isWhole: isWhole))
            if index < notes.count { line.addWord(notes[index], .dim) }
            return line
        }
    }

    /// `open → closed`
    static func values(_ old: Field?, _ new: Field?, isWhole: Bool = false) -> StyledLine {
        var line = StyledLine()
        if let old { line.add(ValueText.text(old, isWhole: isWhole), .removed) }
        if old != nil, new != nil { line.add(" → ") }
        if let new { line.add(ValueText.text(new, isWhole: isWhole), .added) }
        return line
    }

    /// `~ posts/42`, for a list of changes.
    func changeLine(indent: Int) -> StyledLine {
        var line = StyledLine(String(repeating: " ", count: indent))
        line.add(operation.sign, operation.role)
        line.add(" ")
        line.add(target.description, .heading)
        return line
    }
}

extension StorageEvent {
    /// `~ posts/42  @101`, for a list of changes inside a commit.
    func changeLine(indent: Int, showsPosition: Bool) -> StyledLine {
        var line = changeLine(indent: indent)
        if showsPosition { line.addWord(.position(position), .dim) }
        return line
    }

    /// `@101  t:12  2024-05-01T10:00:00Z  update posts/42  anna (web)  "why"`
    func headline(showsTarget: Bool) -> StyledLine {
        var line = StyledLine(.position(position), .heading)
        line.addWord(.commit(commit.number))
        line.addWord(Timestamp.shown(commit.time))
        line.addWord(operation.rawValue, operation.role)
        if showsTarget {
            line.add(" ")
            line.add(target.description, .heading)
        }
        line.addWord(CommitText.author(commit.metadata))
        line.addWord(CommitText.reason(commit.metadata))
        return line
    }
}

extension VerticalRow {
    /// Creates a row with an event, its commit's metadata, and its columns.
    init(_ event: StorageEvent, only columns: [String]?, notes: [String] = [], isWhole: Bool) {
        self.init("@\(event.position)")
        let metadata = event.commit.metadata
        add("commit", StyledLine(.commit(event.commit.number)))
        add("time", Timestamp.shown(event.commit.time))
        add("actor", metadata.actor ?? "")
        add("app", metadata.app ?? "")
        add("reason", metadata.reason ?? "")
        add(event.operation.rawValue, event.target.description, event.operation.role)
        for (index, change) in event.changedColumns(only: columns).enumerated() {
            var line = StorageEvent.values(change.old, change.new, isWhole: isWhole)
            if index < notes.count { line.addWord(notes[index], .dim) }
            add(change.column, line)
        }
    }
}
