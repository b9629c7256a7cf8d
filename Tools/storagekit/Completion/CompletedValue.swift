/// The kind of value that an option or argument takes.
enum CompletedValue: Equatable, Sendable {
    /// Free text.
    case text
    case file, store
    case table, row, target, column, projection
    case actor, app, tag
    case point, points
    /// A point or a range, or a table, row or cell.
    case pointOrTarget
    case pointOrTable
    /// A statement, or a condition; or a table or point where those are allowed as well.
    case sql, condition, tableOrSQL, pointOrSQL

    /// The kinds of options by name; an option means the same in every command.
    static let options: [String: CompletedValue] = [
        "--store": .store, "--output": .file, "--old": .file, "--new": .file, "--tls-certificate": .file,
        "--tls-key": .file,
        "--since": .point, "--until": .point, "--at": .point, "--to": .point, "--from": .point, "--diff-with": .point,
        "--each": .points,
        "--actor": .actor, "--of": .actor, "--app": .app,
        "--table": .table, "--read": .table, "--write": .table, "--write-only": .table,
        "--column": .column, "--fields": .column, "--changed": .column, "--group": .column, "--order": .column,
        "--tenant-column": .column,
        "--watch": .target, "--break": .target, "--include": .table,
        "--reason": .text, "--correlation": .text, "--template": .text, "--where": .condition, "--limit": .text,
        "--key": .text, "--run": .text, "--link": .text,
        "--note": .text, "--sql": .text, "--host-name": .text, "--ignore": .text, "--key-column": .text,
        "--path": .text, "--position": .text,
        "--page": .text, "--maximum-bytes": .text, "--time-limit": .text,
        "--search": .text, "--aggregate": .text, "--pace": .text, "--for": .text, "--host": .text, "--port": .text,
        "--origin": .text, "--maximum-body": .text, "--maximum-rate": .text, "--maximum-connections": .text,
        "--tenant": .text, "--expires": .text, "--projection": .projection,
    ]

    /// The kinds of a command's arguments, by the command's name; the last one also applies to all that follow.
    static let arguments: [String: [CompletedValue]] = [
        "import": [.file], "adopt": [.store, .text], "backup": [.file], "restore": [.store],
        "log": [.pointOrTarget], "show": [.point], "history": [.row], "diff": [.point, .pointOrTarget],
        "blame": [.target], "grep": [.text, .pointOrTarget], "bisect": [.pointOrSQL, .sql],
        "at": [.point, .tableOrSQL],
        "sql": [.sql], "explain": [.sql], "ui": [.pointOrTarget], "exec": [.sql], "watch": [.table, .text],
        "replay": [.pointOrTarget],
        "compare-replay": [.point], "tag": [.tag, .point], "note": [.point, .text], "revert": [.point],
        "restore-state": [.point, .target], "schema tables": [.table], "schema log": [.table],
        "schema diff": [.point], "rebuild": [.table], "record": [.table], "undo": [.text], "redo": [.text],
        "projections": [.text, .projection], "sources": [.text], "outbox": [.text], "tokens": [.text],
        "completions": [.text], "complete": [.text],
    ]

    static func ofArgument(_ index: Int, of command: String) -> CompletedValue {
        guard let kinds = arguments[command], let last = kinds.last else { return .text }
        return index < kinds.count ? kinds[index] : last
    }
}
