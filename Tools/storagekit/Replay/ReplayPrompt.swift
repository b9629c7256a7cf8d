import ArgumentParser
import Foundation
import GRDB
import StorageKit

/// Reads commands for a replay from standard input, one for each line.
final class ReplayPrompt {
    static let help = """
        n [COUNT]      the next event            p [COUNT]      back one event
        N [COUNT]      the next commit           P [COUNT]      back one commit
        c              to the next break      g POINT        jump to a point
        b [CONDITION]  break there; lists them   w [TARGET]     watch a row or cell; lists them
        s SQL          a query at this point     d [TARGET…]    what changed since the last stop
        .              the current position           q              the end

        """

    private let run: ReplayRun
    private let store: HistoryReader
    private let output: ResultOutput
    private let color: ColorChoice
    private let unit: ReplayUnit
    private let isTerminal = Terminal(descriptor: 0).isTerminal
    /// The line editor of a terminal; nil without one, when lines are read as they arrive.
    private let editor: LineEditor?
    /// The lines that are read without it.
    private let lines: TypedLines
    private var state: MaterializedSnapshot?
    /// The position before the last movement.
    private var lastStop: Int64
    private var last = ReplayStop.point
    private var lastMovement: String?

    init(
        _ run: ReplayRun, _ output: ResultOutput, color: ColorChoice, unit: ReplayUnit
    ) throws {
        self.run = run
        self.output = output
        self.color = color
        self.unit = unit
        store = run.store
        lastStop = run.position
        lines = try TypedLines()
        let words = ReplayWords(run.store)
        editor = output.format == .human ? LineEditor("replay") { words.candidates(for: $0) } : nil
    }

    /// - Returns: Why the replay stopped last.
    func loop() throws -> ReplayStop {
        while let line = try read() {
            let text = line.trimmingCharacters(in: .whitespaces)
            let repeated = text.isEmpty && isTerminal ? lastMovement ?? "" : text
            guard !repeated.isEmpty else { continue }
            do {
                guard try obey(repeated) else { break }
            } catch let error where !(error is BrokenPipe) {
                // A user at a terminal can correct it; a script can't.
                guard isTerminal else { throw error }
                let style = Terminal(descriptor: 2).style(color)
                Self.show(CommandError(wrapping: error).rendered(style: style))
            }
        }
        return last
    }

    private func read() throws -> String? {
        try output.flush()
        guard isTerminal else { return try lines.next() }
        let commit = try store.index.commit(at: run.position).map { " t:\($0.info.number)" } ?? ""
        let prompt = "@\(run.position)\(commit)> "
        guard let editor else {
            Self.show(prompt)
            return try lines.next()
        }
        while true {
            switch editor.read(prompt: prompt) {
            case .line(let line):
                editor.remember(line)
                return line
            case .interrupted: continue
            case .end:
                try output.line()
                return nil
            }
        }
    }

    /// Without standard error, commands are obeyed without a prompt.
    private static func show(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }

    /// - Returns: Whether to continue.
    private func obey(_ line: String) throws -> Bool {
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        let rest = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        switch parts[0] {
        case "n": try move(line) { try run.forward(count(rest), by: .event) }
        case "N": try move(line) { try run.forward(count(rest), by: .commit) }
        case "p": try move(line) { try run.back(count(rest), by: .event) }
        case "P": try move(line) { try run.back(count(rest), by: .commit) }
        case "c": try move(line) { try run.forward(by: unit) }
        case "g": try jump(rest)
        case "b": try addBreak(rest)
        case "w": try addWatch(rest)
        case "s": try query(rest)
        case "d": try difference(rest)
        case ".": try run.printer.write(last, at: run.position)
        case "?", "h", "help": try output.lines(Self.help.split(separator: "\n").map(String.init))
        case "q", "quit": return false
        default:
            throw CommandError(.usage, "There is no command '\(parts[0])'.", next: "Type ? for the list.")
        }
        return true
    }

    private func count(_ text: String) throws -> Int {
        if text.isEmpty { return 1 }
        guard let count = Int(text), count > 0 else {
            throw CommandError(
                .usage, "'\(text)' isn't a number of steps.", next: "Give a number of at least 1, or none.")
        }
        return count
    }

    private func move(_ line: String, _ body: () throws -> ReplayStop) throws {
        lastMovement = line
        lastStop = run.position
        last = try body()
        if last != .step { try run.printer.write(last, at: run.position) }
    }

    private func jump(_ text: String) throws {
        let position = try store.position(of: PointArgument(text, now: SystemTime.now))
        guard (run.logRange.after...run.logRange.through).contains(position) else {
            throw CommandError(
                .usage, "@\(position) lies outside of the range.", why: "The range is \(run.logRange).",
                next: "Name a point inside it, or restart with another range.")
        }
        try move("") {
            run.jump(to: position)
            return .point
        }
        lastMovement = nil
    }

    private func addBreak(_ text: String) throws {
        if text.isEmpty { return try output.lines(run.breakpoints.map { TerminalText.visible("break \($0.text)") }) }
        run.breakpoints.append(try Breakpoint(text, store))
    }

    private func addWatch(_ text: String) throws {
        if text.isEmpty { return try output.lines(run.watches.map { TerminalText.visible("watch \($0.target)") }) }
        run.watches.append(try RowProbe(TargetArgument(text), store))
    }

    // MARK: Looking

    private func query(_ sql: String) throws {
        guard !sql.isEmpty else {
            throw CommandError(.usage, "s needs a query.", next: "Type: s SELECT * FROM TABLE")
        }
        if let folded = run.folded, try query(sql, of: folded) { return }
        let state = try snapshot()
        let output = output
        let ask = { (snapshot: GRDB.Database) in
            let connection = try snapshot.connection
            let result = QueryResult(try PreparedStatement(connection, sql), catalog: state.catalog, sql: sql)
            let printer = QueryPrinter(output)
            printer.expect(result.columns)
            while let row = try result.next() { try printer.write(row) }
            try printer.finish()
        }
        // A full-text index is built beside its table when a query names it.
        let indexes = try FullTextIndex.load(store.connection)
        let tables = state.catalog.live.map { ($0.stored, $0.live.map(\.stored) + ["_position"]) }
        let texts = try indexes.map { ($0.table, try $0.storedColumns(store.catalog) + [$0.table, "rank"]) }
        let named = try ReferencedTables(of: sql, in: tables + texts).names
        if let index = indexes.first(where: { named.contains($0.table) }),
            let entity = state.catalog.entity(id: index.entity)
        {
            try state.search(entity.name, from: store.database, ask)
        } else {
            try state.read(named.compactMap { state.catalog.entity(stored: $0)?.name }, from: store.database, ask)
        }
    }

    /// Runs a query on the tables of the folded projection.
    ///
    /// - Returns: Whether the query names only these tables.
    private func query(_ sql: String, of folded: FoldedProjection) throws -> Bool {
        let names = Set(folded.tables.map { $0.name.folded })
        let entities = store.catalog.live.map { ($0.stored, $0.live.map(\.stored) + ["_position"]) }
        let all = folded.tables + entities.filter { !names.contains($0.0.folded) }
        let named = try ReferencedTables(of: sql, in: all).names
        guard named.contains(where: { names.contains($0.folded) }) else { return false }
        if let other = named.first(where: { !names.contains($0.folded) }) {
            throw CommandError(
                .usage, "\"\(other)\" is an entity, and the query names tables of the projection.",
                why: "They are in different temporary databases.", next: "Query one of them at a time.")
        }
        try folded.go(to: run.position)
        try folded.read { connection in
            let result = QueryResult(try PreparedStatement(connection, sql), catalog: Catalog(), sql: sql)
            let printer = QueryPrinter(output)
            printer.expect(result.columns)
            while let row = try result.next() { try printer.write(row) }
            try printer.finish()
        }
        return true
    }

    /// Returns the tables as of the current position, derived from the last snapshot if that is less work.
    private func snapshot() throws -> MaterializedSnapshot {
        if let state, try state.move(to: run.position, from: store.database) { return state }
        let state = try MaterializedSnapshot(at: run.position, of: store.database, schema: .asRecorded)
        self.state = state
        return state
    }

    private func difference(_ targets: String) throws {
        let words = targets.split(separator: " ").map(String.init)
        let format = output.format == .human ? DiffFormat.human : .jsonl
        let command = try DiffCommand.parse(
            ["@\(lastStop)..@\(run.position)"] + words + ["--format", format.rawValue, "--color", color.rawValue])
        _ = try command.write(store)
    }
}
