/// The manual's text in addition to the commands' descriptions.
enum ManualText {
    static let description = """
        A StorageKit store keeps every change of its rows as an event in a log, in one SQLite file. This tool reads \
        the log, compares and queries earlier states, reverts changes, and verifies the tables against the log.

        Commands that only read open the store read-only and work while a program writes to it. Commands that change \
        rows take --dry-run, --reason and --yes, and are recorded with the name of the operating-system user.

        The default output is for people. --format jsonl and json are a stable contract; csv and md are tables. Every \
        object has "v":1, but rows of at and sql, which hold what was asked for; ignore unknown keys. In csv, NULL is \
        nothing, and an empty text "".
        """

    static let grammar: [(title: String, body: [(term: String, meaning: String)])] = [
        (
            "POINTS",
            [
                ("@1234, @1234~", "A position; the state just before it."),
                ("t:77", "Commit 77."),
                (
                    "2024-05-01T10:00:00Z, 2024-05-01, \"today 14:00\", yesterday",
                    """
                    A time, in the zone of --time unless it names an offset: the last commit made then or before. The \
                    zone is yours (TZ) where the output is a terminal and UTC elsewhere.
                    """
                ),
                ("-2h, -1d12h, now", "That long ago, in w d h m s; the present."),
                ("head, head~5, head^", "The newest commit; five commits before it; one."),
                ("tag:NAME", "What was tagged."),
                (
                    "A..B",
                    "A range: after A, up to and including B. Without A from the beginning, without B to head."
                ),
            ]
        ),
        (
            "TARGETS",
            [
                ("users", "A table."), ("users/42", "A row; the parts of a key are separated by commas."),
                ("users/", "The row whose key is empty."),
                ("users/42#name", "A value. Write %2F for a / in a table's name, %23 for a #."),
            ]
        ),
    ]

    static let statuses: [(ExitStatus, String)] = [
        (.done, "Done; equal; sound."),
        (.negative, "A negative answer: a difference, no match, a breakpoint was reached."),
        (.usage, "Usage error."), (.notFound, "There is no such store, point, table, row or file."),
        (.unavailable, "The store is busy, read-only, or of a newer format."),
        (.corrupt, "Stored bytes aren't what was written."), (.inconclusive, "Inconclusive."),
        (.conflict, "Conflict, or an invalid line of input."),
        (.partial, "Partly done, and the rest is listed; or done, and the report couldn't be written."),
    ]

    static let environment = [
        ("STORAGEKIT_STORE", "The store's file, where -s isn't given."),
        ("STORAGEKIT_TIME", "The zone of times, utc or local, where --time isn't given."),
        (
            "STORAGEKIT_PAGER, PAGER",
            "The pager of long output on a terminal; less by default, none where it is cat or empty."
        ),
        ("LESS", "The options of less; FRX where it isn't set."),
        (
            "XDG_STATE_HOME",
            "Where the histories of prompts are kept, in a folder storagekit; ~/.local/state by default."
        ),
        ("NO_COLOR", "If it isn't empty, nothing is coloured."),
        ("COLUMNS", "The width of the terminal."),
    ]
}
