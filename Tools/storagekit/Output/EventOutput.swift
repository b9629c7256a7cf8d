import StorageKit

extension StorageEvent {
    static let cellTitles = [
        "position", "commit", "time", "actor", "app", "reason", "op", "table", "id", "column", "old", "new",
    ]

    /// The event for CSV and Markdown: a row for each column that changed.
    func cells(only column: String? = nil) -> [[String?]] {
        let metadata = commit.metadata
        let head: [String?] = [
            String(position), String(commit.number), Timestamp.text(commit.time), metadata.actor, metadata.app,
            metadata.reason, operation.rawValue, table, id,
        ]
        let changes = changedColumns(only: column)
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

extension RowChange {
    /// `~ status  open → closed`, a line for each column.
    ///
    /// - Parameter notes: what follows a column's value, in the order of `changedColumns`.
    func columnLines(indent: Int, only column: String? = nil, notes: [String] = []) -> [StyledLine] {
        let changes = changedColumns(only: column)
        let widest = min(changes.map { DisplayWidth.of(TerminalText.visible($0.column)) }.max() ?? 0, 24)
        return changes.enumerated().map { index, change in
            var line = StyledLine(String(repeating: " ", count: indent))
            line.add(operation.sign, operation.role)
            let name = TerminalText.visible(change.column)
            line.add(" \(name)" + String(repeating: " ", count: max(widest - DisplayWidth.of(name), 0) + 2))
            if let old = change.old { line.add(ValueText.text(old), .removed) }
            if change.old != nil, change.new != nil { line.add(" → ") }
            if let new = change.new { line.add(ValueText.text(new), .added) }
            if index < notes.count { line.addWord(notes[index], .dim) }
            return line
        }
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
        if showsPosition { line.addWord("@\(position)", .dim) }
        return line
    }

    /// `@101  t:12  2024-05-01T10:00:00Z  update posts/42  anna (web)  "why"`
    func headline(showsTarget: Bool) -> StyledLine {
        var line = StyledLine("@\(position)", .heading)
        line.addWord("t:\(commit.number)")
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
