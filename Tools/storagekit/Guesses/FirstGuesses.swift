import ArgumentParser
import Foundation
import StorageCore

/// What users of git, psql, sqlite3 or jq type first, and the line that does it here.
///
/// A guess isn't run, because its meaning in the other tool is rarely the same as here.
enum FirstGuesses {
    /// Returns the line to type for a word that isn't a command.
    static func next(forCommand word: String) -> String? {
        if let line = commands[word.lowercased()] { return line }
        if word.hasPrefix(".") || word.hasPrefix("\\") { return next(forShellCommand: word) }
        if isStore(word) { return "The command comes first: storagekit log -s \(word.quotedAsShellWord)" }
        let keyword = word.prefix { $0.isLetter }.lowercased()
        if word.contains(" "), let line = commands[keyword] { return line }
        return nil
    }

    /// Returns the line to type for a command of the shells of SQLite and PostgreSQL; nil for SQL.
    static func next(forShellCommand text: String) -> String? {
        let words = text.split(separator: " ").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: ";")) }
        guard let first = words.first?.lowercased() else { return nil }
        let table = words.count > 1 ? " \([words[1]].quotedAsOperands)" : ""
        switch first {
        case ".tables", "\\dt", "\\d+", ".databases", "\\l", "show": return "Type: storagekit schema"
        case ".schema", "\\d", "describe", "desc", ".indexes", "\\di", "pragma":
            return "Type: storagekit schema\(table)"
        case ".dump", ".backup", ".clone":
            return first == ".dump" ? "Type: storagekit export" : "Type: storagekit backup FILE"
        case ".mode", ".headers", "\\x": return "Add --format csv, --format json or --format md."
        case ".quit", ".exit", "\\q", ".help", "\\?": return "Type: storagekit --help"
        case ".import", "\\copy", ".read", "\\i": return "Type: storagekit import FILE"
        default: return first.hasPrefix(".") || first.hasPrefix("\\") ? "Write SQL, or type: storagekit --help" : nil
        }
    }

    /// Returns the line to type for an option that a command doesn't have.
    static func next(forOption option: String, of command: String) -> String? {
        options["\(command) \(option)"] ?? options[option]
    }

    /// Whether a word is the name of a file that looks like a store.
    static func isStore(_ word: String) -> Bool {
        [".sqlite", ".sqlite3", ".db"].contains { word.hasSuffix($0) }
    }

    // MARK: Names in other tools

    private static let commands: [String: String] = {
        let lines = [
            ("query select sql3 ask", "Type: storagekit sql \"SELECT …\""),
            ("shell repl console psql sqlite3 open", "Type: storagekit sql \"SELECT …\""),
            ("tables table ls list describe columns show-tables", "Type: storagekit schema"),
            ("status st info summary", "Counts and sizes: storagekit stats. Whether all is well: storagekit doctor"),
            ("size du count usage", "Type: storagekit stats"),
            (
                "commit ci add put set save insert update delete rm remove mv write",
                "Type: storagekit exec \"INSERT, UPDATE or DELETE …\" --reason WHY"
            ),
            (
                "checkout co switch",
                "To look: storagekit at POINT TABLE. To go back: storagekit restore-state POINT --dry-run"
            ),
            ("reset rollback", "To go back to a point: storagekit restore-state POINT --dry-run"),
            ("fsck check prove validate integrity_check", "Type: storagekit verify"),
            ("repair recover heal", "Type: storagekit doctor --fix --dry-run"),
            ("dump", "Type: storagekit export"),
            ("load", "Type: storagekit import FILE"),
            (
                "vacuum gc compact prune optimize maintain",
                "A store keeps itself small while its program has it open. Its sizes: storagekit stats"
            ),
            ("search find pickaxe", "Type: storagekit grep TEXT"),
            ("follow listen subscribe monitor", "Type: storagekit tail -f"),
            ("reindex refresh materialize", "Type: storagekit rebuild"),
            (
                "migrate migration alter create drop",
                "A store's program changes its schema. What it has changed: storagekit schema log"
            ),
            ("cat get row select-row", "Who set each of its values: storagekit blame TABLE/ID"),
            ("annotate who praise", "Type: storagekit blame TABLE/ID"),
            ("versions revisions", "Type: storagekit history TABLE/ID"),
            ("audit commits timeline events changes shortlog whatchanged", "Type: storagekit log"),
            ("reflog oplog operations", "Type: storagekit log storage_operation --schema"),
            (
                "branch merge rebase stash cherry-pick push pull fetch remote worktree",
                "A store has one line of history. To sync stores: storagekit serve --help"
            ),
            ("clone copy cp", "Type: storagekit backup FILE"),
            (
                "init new",
                "From a history: storagekit import FILE -s app.sqlite. From a database: storagekit adopt FILE -s app.sqlite"
            ),
            ("why when", "Type: storagekit history TABLE/ID"),
            ("version", "Type: storagekit --version"),
            ("man", "Type: storagekit manual | man -l -"),
            ("completion", "Type: storagekit completions bash"),
            ("agent claude llm", "Type: storagekit mcp --help"),
        ]
        var commands: [String: String] = [:]
        for (words, line) in lines { for word in words.split(separator: " ") { commands[String(word)] = line } }
        return commands
    }()

    private static let options: [String: String] = {
        let lines = [
            ("--author --user --by", "Write --actor NAME."),
            ("--after --newer-than", "Write --since POINT."),
            ("--before --older-than", "Write --until POINT."),
            ("--max-count --head", "Write -n COUNT."),
            ("log --grep", "In reasons: --reason TEXT. In values: storagekit grep TEXT"),
            ("log -S log -G log --search", "Type: storagekit grep TEXT"),
            ("log --stat log --shortstat", "log counts rows as it is; --patch shows them."),
            ("log --graph log --all log --branches", "A store has one line of history, and log lists all of it."),
            ("log --pretty log --abbrev-commit", "Write --oneline, or --format jsonl."),
            ("log --follow log -f log --tail", "Type: storagekit tail -f"),
            ("export -o export --output", "Type: storagekit export > history.jsonl"),
            (
                "export --since export --until export --from export --to",
                "export writes the whole history. A store up to a point: storagekit restore BACKUP --to POINT -o NEW."
            ),
            (
                "verify --since verify --until verify --from verify --to verify --at",
                "verify proves the whole store. Type: storagekit verify"
            ),
            ("--json -j -o --output-format", "Write --format json, or --format jsonl for an object a line."),
            ("grep --oneline history --oneline", "Write --format jsonl for one line each."),
            ("--csv", "Write --format csv."), ("--markdown --md", "Write --format md."),
            ("diff --name-only diff --name-status", "Write --summary for tables, --skinny for keys."),
            (
                "diff --cached diff --staged",
                "Everything is committed. What the last commit changed: storagekit diff head~1"
            ),
            ("sql -c sql -e sql --command sql --query at -c at -e", "Write the query itself, in quotes."),
            ("exec -c exec -e exec --command", "Write the statement itself, in quotes."),
            ("sql -f sql --file", "Type: storagekit sql - < FILE"),
            ("exec -f exec --file", "Type: storagekit exec - < FILE"),
            ("sql --explain", "Type: storagekit explain \"SELECT …\""),
            ("sql --write", "Type: storagekit exec \"UPDATE …\""),
            ("sql --at sql --as-of", "Type: storagekit at POINT \"SELECT …\""),
            ("grep -E grep -P grep -e grep --perl-regexp", "Write -G for a regular expression."),
            ("grep -c grep --count", "Count the lines: storagekit grep TEXT --format jsonl | wc -l."),
            ("grep -l grep -r grep -R grep -v", "Name tables after the pattern to search those only."),
            ("tag -l tag --list tag -a", "Without a name, the tags are listed: storagekit tag"),
            (
                "undo -n revert -n redo -n exec -n restore-state -n --plan --check --what-if --preview --no-commit",
                "Write --dry-run."
            ),
            ("--force -f --hard", "To skip the question: --yes."),
            ("-v --verbose -V", "The version: storagekit --version"),
            ("--message --msg", "Write --reason TEXT."), ("--db --database --file --path", "Write -s FILE."),
            ("--quiet -q", "Redirect the output: > /dev/null."),
            ("--no-pager", "This command pages nothing."),
            ("show -p show --patch history -p diff -p", "Changes are shown as it is; --patch is an option of log."),
        ]
        var options: [String: String] = [:]
        for (names, line) in lines {
            var command: String?
            for name in names.split(separator: " ").map(String.init) {
                if name.hasPrefix("-") {
                    options[[command, name].compactMap(\.self).joined(separator: " ")] = line
                    command = nil
                } else {
                    command = name
                }
            }
        }
        return options
    }()
}
