import ArgumentParser
import StorageKit

/// `storagekit note`: notes on points, added later.
struct NoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "note", abstract: "List notes, or annotate a commit or event.",
        discussion: """
            A point has one note, which log and show print. A new text replaces it; the log keeps the old one. The \
            note of a commit is stored at its last event.

              storagekit note -s app.sqlite
              storagekit note -s app.sqlite t:77 "imported twice, see T-5"
              storagekit note -s app.sqlite @1234
              storagekit note -s app.sqlite t:77 --delete --yes
            """)

    @Argument(
        help: "The point to annotate: t:77, @1234, head, a time, tag:NAME.",
        transform: { try PointArgument($0, now: SystemTime.now) })
    var point: PointArgument?

    @Argument(help: "The text. Default: show the note.")
    var text: String?

    @OptionGroup var store: StoreOption

    @Flag(name: .shortAndLong, help: "Delete the note.")
    var delete = false

    @OptionGroup var change: ChangeOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if delete, point == nil || text != nil { throw ValidationError("--delete takes a point only.") }
        if text == nil, !delete, change.dryRun || change.reason != nil {
            throw ValidationError("Give the note's text.")
        }
        if text?.isEmpty == true { throw ValidationError("A note can't be empty. Use --delete to delete it.") }
    }

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "note")
        guard let point, text != nil || delete else { return try await list() }
        let (text, delete) = (text, delete)
        let position = try await store.read { store in
            let position = try store.taggedPosition(of: point)
            if delete, try store.tags.notes(in: position...position).isEmpty {
                throw CommandError(
                    .notFound, "There is no note at \(point).", why: "The point is @\(position).",
                    next: "List them by: storagekit note")
            }
            return position
        }
        let run = TagRun(store: store, change: change, format: format, tag: nil)
        try await run.run { storage, metadata, isDryRun in
            try await storage.engine.note(
                delete ? nil : text, at: .position(position), metadata: metadata, isDryRun: isDryRun)
        }
    }

    /// Lists all notes, or that of the point.
    private func list() async throws {
        let command = self
        let isEmpty = try await store.read { store in
            let output = ResultOutput(command.format)
            output.needsReader = command.point == nil
            var table = TableLayout(
                [.init("point"), .init("commit"), .init("time"), .init("by"), .init("note")], width: output.width)
            let position = try command.point.map { try store.taggedPosition(of: $0) }
            var isEmpty = true
            try store.tags.forEachNote(in: position.map { $0...$0 } ?? 0...Int64.max) { note in
                isEmpty = false
                let commit = try store.index.commit(at: note.position)
                if output.format == .human {
                    table.add([
                        TableCell(.position(note.position), .heading),
                        commit.map { TableCell(.commit($0.info.number)) } ?? TableCell(""),
                        TableCell(commit.map { Timestamp.shown($0.info.time) } ?? "", .dim),
                        TableCell(CommitText.author(note.commit.metadata), .dim), TableCell(note.text),
                    ])
                } else {
                    try output.record(NoteRecord(note: note, commit: commit?.info))
                    try output.flushIfDue()
                }
                return true
            }
            if output.format == .human {
                if isEmpty {
                    try output.line("No notes.", .dim)
                } else {
                    try output.lines(table.lines(style: output.style))
                }
            }
            try output.finish()
            return isEmpty
        }
        if isEmpty, point != nil { throw ExitStatus.negative }
    }
}
