extension MCPTool {
    /// The tools, in the order in which they are listed. None of them changes anything.
    static let all: [MCPTool] = [
        MCPTool(
            "log", "Commits", LogCommand.self,
            [.argument("range", range), targets] + filters
                + [
                    .option("where"), .option("changed", .texts), .option("reverse", .flag), .option("patch", .flag),
                    .option("schema", .flag),
                ], .rows(MCPField.commit + [.maybe("events", "array")]), continuation: .until,
            narrower: "Name a range, targets or a filter, or leave patch out."),
        MCPTool(
            "show", "One commit or event", ShowCommand.self,
            [.argument("point", "The event or commit. " + points, isRequired: true)],
            .document(
                [.always("commit", "integer"), .always("time", "string")], list: "events", rows: MCPField.change),
            continuation: .samePoints,
            narrower: "Ask sql for a part: SELECT * FROM changes_TABLE WHERE _commit = NUMBER LIMIT 100."),
        MCPTool(
            "history", "Versions of a row", HistoryCommand.self,
            [.argument("target", "The row or cell: users/42, users/42#name.", isRequired: true)] + filters,
            .rows(MCPField.event), continuation: .until,
            narrower: "Name a cell (users/42#name), or a range with since and until."),
        MCPTool(
            "diff", "Net changes between two points", DiffCommand.self,
            [
                .argument("from", "The older point. " + points, isRequired: true),
                .argument("to", "The newer point. Default: head."), targets, .option("stat", .flag),
                .option("reverse", .flag),
            ], .rows([.always("table", "string")]), continuation: .samePoints,
            narrower: "Name targets, or ask for counts only with stat."),
        MCPTool(
            "blame", "Who set each value", BlameCommand.self,
            [
                .argument("target", "The row, cell or table: users/42, users/42#name, users.", isRequired: true),
                .option("at"), .option("column", .texts), .option("ignore", .texts),
            ],
            .rows(
                [
                    .always("table", "string"), .always("id", "string"), .maybe("column", "string"),
                    .maybe("op", "string"), .always("position", "integer"), .always("commit", "integer"),
                    .always("time", "string"),
                ] + MCPField.author), continuation: .at, narrower: "Name a row or a cell."),
        MCPTool(
            "grep", "When a value appeared or disappeared", GrepCommand.self,
            [
                .argument("pattern", "The pattern to search for.", isRequired: true), .argument("range", range),
                targets,
                .option("regex", .flag), .option("ignore_case", .flag), .option("appeared", .flag),
                .option("vanished", .flag), .option("in", .choice(["old", "new", "meta"])), .option("reverse", .flag),
            ] + filters, .rows([.always("commit", "integer"), .always("time", "string")]), continuation: .until,
            narrower: "Name a range or targets."),
        MCPTool(
            "at", "A query on the past", AtCommand.self,
            [
                .argument("point", "The point. " + points, isRequired: true),
                .argument("sql", "One SELECT, or a table's name. Default: lists the tables."), .option("each"),
                .option("diff_with"), .option("key"), .option("schema", .choice(["as-recorded", "current"])),
            ], .rows([]), continuation: .samePoints, narrower: "Add LIMIT, name fewer columns, or use substr()."),
        MCPTool(
            "sql", "A query", SQLCommand.self, [.argument("sql", "One SELECT.", isRequired: true)], .rows([]),
            narrower: "Add LIMIT, name fewer columns, or use substr()."),
        MCPTool(
            "explain", "The plan of a query", ExplainCommand.self, [.argument("sql", "One SELECT.", isRequired: true)],
            .document([.always("history", "array"), .always("events", "integer"), .always("steps", "array")])),
        MCPTool(
            "bisect", "The commit that changed an answer", BisectCommand.self,
            [
                .argument("range", range),
                .argument(
                    "sql", "One SELECT: true if the first value of its first row isn't zero.", isRequired: true),
            ],
            .document(
                MCPField.commit + [
                    .always("before", "boolean"), .always("after", "boolean"), .always("steps", "integer"),
                ])),
        MCPTool(
            "schema", "Tables and columns", SchemaTablesCommand.self, command: ["schema", "tables"],
            [.argument("tables", "Tables to show. Default: all.", kind: .texts), .option("at")],
            .rows([.maybe("table", "string"), .maybe("columns", "array")]), narrower: "Name tables."),
        MCPTool("stats", "Counts and sizes", StatsCommand.self, [], .document([.always("events", "integer")])),
        MCPTool(
            "verify", "Whether the store is what was written", VerifyCommand.self, [],
            .document([.always("ok", "boolean"), .always("findings", "array")]), verdicts: [.corrupt]),
        MCPTool(
            "doctor", "Checks, and what to do", DoctorCommand.self, [],
            .rows([
                .always("check", "string"), .always("status", "string"), .always("message", "string"),
                .always("remedy", "string", "null"),
            ]), verdicts: [.corrupt],
            about:
                "Examine the store. Each row is a check: ok, warn or fail, what was found, and the command that repairs it. Nothing is changed."
        ),
        MCPTool(
            "tags", "Tags", TagCommand.self, command: ["tag"], [],
            .rows([.always("tag", "string"), .always("position", "integer")]),
            about: "List the tags, by position. Use tag:NAME wherever a point is expected."),
        MCPTool(
            "notes", "Notes", NoteCommand.self, command: ["note"],
            [.argument("point", "The commit or event. Default: all notes. " + points)],
            .rows([.always("position", "integer"), .always("note", "string", "null")]),
            about: "List the notes on commits and events."),
        MCPTool(
            "plan_undo", "What an undo would change", UndoCommand.self, command: ["undo", "--dry-run"],
            [.option("of"), .option("on_conflict", .choice(["abort", "skip", "overwrite"]))],
            .document(
                [
                    .always("dry_run", "boolean"), .always("reverts", "integer", "null"),
                    .always("inserted", "integer"),
                    .always("updated", "integer"), .always("deleted", "integer"), .always("conflicts", "array"),
                ], list: "plan", rows: MCPField.change), verdicts: [.conflict],
            about:
                "Show what an undo of the most recent commit would change, or of the most recent of one actor. Nothing is undone: command is what a person runs to do it, where it shows the rows again and asks."
        ),
    ]

    static func named(_ name: String) -> MCPTool? { all.first { $0.name == name } }

    private static let points = "@1234 (a position), t:77 (a commit), a time in RFC 3339, -2h, head, head~5, tag:NAME."
    private static let range = "A..B: after A, up to and including B, each a point; A.. and ..B are ranges, too."
    private static let targets = MCPParameter.argument(
        "targets", "Tables, rows or cells: users, users/42, users/42#name.", kind: .texts)
    private static let filters: [MCPParameter] = [
        .option("since"), .option("until"), .option("actor", .texts), .option("app", .texts), .option("reason", .texts),
        .option("correlation", .texts), .option("table", .texts), .option("op", .texts), .option("column", .texts),
    ]
}
