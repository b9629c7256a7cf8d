import StorageCore
import StorageLog

/// A change of one row: an event, or the net change between two points.
protocol RowChange {
    var operation: StorageEvent.Operation { get }
    var table: String { get }
    var key: [StorageEvent.Field] { get }
    var old: [StorageEvent.Field]? { get }
    var new: [StorageEvent.Field]? { get }
}

extension StorageEvent: RowChange {}
extension RowDifference: RowChange {}

extension RowChange {
    /// The row's id as it is typed.
    var id: String { KeyText.text(of: key) }

    var target: TargetArgument { TargetArgument(table: table, id: id) }
}

extension JSONWriter {
    /// An array of changes.
    mutating func changes(_ name: String, _ rows: [some RowChange]) {
        key(name)
        beginArray()
        for row in rows {
            beginObject()
            row.writeChange(to: &self)
            endObject()
        }
        endArray()
    }
}

/// How single events are shown and written.
extension StorageEvent {
    /// The keys of a line of history, after `v`.
    ///
    /// - Parameter column: the only column to tell; all if nil.
    func writeLine(to json: inout JSONWriter, only column: String? = nil) {
        json.key("position")
        json.integer(position)
        json.key("commit")
        json.integer(commit.number)
        json.key("time")
        json.time(commit.time)
        commit.metadata.writeNames(to: &json, alwaysReason: false)
        writeChange(to: &json, only: column)
    }

}

extension RowChange {
    /// The keys that say what changed.
    func writeChange(to json: inout JSONWriter, only column: String? = nil) {
        json.key("op")
        json.text(operation.rawValue)
        json.key("table")
        json.text(table)
        json.key("id")
        json.text(id)
        json.key("old")
        write(old, only: column, to: &json)
        json.key("new")
        write(new, only: column, to: &json)
    }

    func write(_ fields: [StorageEvent.Field]?, only column: String?, to json: inout JSONWriter) {
        guard let fields else { return json.null() }
        json.beginObject()
        for field in fields where column.map({ $0.utf8.elementsEqual(field.column.utf8) }) ?? true {
            // A whole row tells what it has; of a change, NULL is one of the two sides.
            if operation != .update, field.value == .null { continue }
            json.key(field.column)
            StoredValueWriter.write(field.value, type: field.type, coding: field.coding, to: &json)
        }
        json.endObject()
    }
}

extension StorageEvent {
    static let cellTitles = [
        "position", "commit", "time", "actor", "app", "reason", "op", "table", "id", "column", "old", "new",
    ]

    /// The event for CSV and Markdown: a row for each column that changed.
    func cells(only column: String? = nil) -> [[String]] {
        let metadata = commit.metadata
        let head = [
            String(position), String(commit.number), Timestamp.text(commit.time), metadata.actor ?? "",
            metadata.app ?? "", metadata.reason ?? "", operation.rawValue, table, id,
        ]
        let changes = changedColumns(only: column)
        guard !changes.isEmpty else { return [head + ["", "", ""]] }
        return changes.map { change in
            head + [change.column, change.old.map(ValueText.plain) ?? "", change.new.map(ValueText.plain) ?? ""]
        }
    }

}

extension RowChange {
    typealias Field = StorageEvent.Field

    /// Each column that is told, with the value before and the one after.
    func changedColumns(only column: String? = nil) -> [(column: String, old: Field?, new: Field?)] {
        let all: [(column: String, old: Field?, new: Field?)] =
            switch operation {
            case .update: zip(old ?? [], new ?? []).map { ($0.column, $0, $1) }
            case .insert: (new ?? []).filter { $0.value != .null }.map { ($0.column, nil, $0) }
            case .delete: (old ?? []).filter { $0.value != .null }.map { ($0.column, $0, nil) }
            }
        guard let column else { return all }
        return all.filter { $0.column.utf8.elementsEqual(column.utf8) }
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
        line.addWord(Timestamp.text(commit.time))
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
