/// The keys, as `?` and the manual list them.
enum HelpLines {
    static let keys: [(keys: String, effect: String)] = [
        ("j k ↓ ↑", "next or previous line"),
        ("Space b PgDn PgUp", "next or previous page; Ctrl-D and Ctrl-U half of one"),
        ("g G Home End", "first or last line of all"),
        ("← → h l", "left or right, for long lines"),
        ("Tab Shift-Tab", "next or previous commit, change or row"),
        ("Enter", "show the selected commit, row, cell or table"),
        ("q Esc", "back; q in the log quits, Q and Ctrl-C always do"),
        ("/ n N", "search; next and previous match"),
        (":", "go to t:7, -2h, posts, posts/42, or t:5..t:9"),
        ("&", "filter the log, such as posts --actor anna --since -2h"),
        ("a", "add the selected commit's actor to the filter"),
        ("m d", "mark a commit; show the difference to it, or to the head"),
        ("t T", "rows of the selected table, or all tables, at a commit"),
        ("u R", "undo the most recent commit; redo the last undo"),
        ("U", "revert the selected commit"),
        ("f", "the newest commits"),
        ("r", "read again"),
        ("c", "show the command that prints the same"),
        ("?", "this list"),
    ]

    /// The keys for the command's help.
    static let text = keys.map { key in
        "  \(key.keys)" + String(repeating: " ", count: max(20 - DisplayWidth.of(key.keys), 1)) + key.effect
    }.joined(separator: "\n")

    static let items: [ScreenItem] = keys.enumerated().map { index, key in
        let number = Int64(index)
        let pad = String(repeating: " ", count: max(20 - DisplayWidth.of(key.keys), 1))
        var line = StyledLine(key.keys, .heading)
        line.add(pad + key.effect)
        return ScreenItem(at: number...number, [ScreenLine(line)])
    }
}
