import ArgumentParser
import StorageKit

/// `storagekit tag`: names for points.
struct TagCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tag", abstract: "List tags, or tag a point.",
        discussion: """
            Without a name, lists the tags by position. Use tag:NAME wherever a point is expected. Tags are recorded \
            in the log: undo skips them, revert reverts them, and storagekit history storage_tag/NAME shows their \
            history.

              storagekit tag -s app.sqlite
              storagekit tag -s app.sqlite release-3 --note "as shipped"
              storagekit tag -s app.sqlite before/import t:77
              storagekit tag -s app.sqlite release-3 head --force --yes
              storagekit tag -s app.sqlite release-3 --delete --yes
            """)

    @Argument(help: "The tag's name.")
    var name: String?

    @Argument(
        help: "The point to tag. Default: the newest change.",
        transform: { try PointArgument($0, now: SystemTime.now) }
    )
    var point: PointArgument?

    @OptionGroup var store: StoreOption

    @Option(help: "A text about the tag; empty to delete it.")
    var note: String?

    @Flag(name: .shortAndLong, help: "Move an existing tag.")
    var force = false

    @Flag(name: .shortAndLong, help: "Delete the tag.")
    var delete = false

    @OptionGroup var change: ChangeOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if name == nil, note != nil || force || delete || change.dryRun || change.reason != nil {
            throw ValidationError("Name a tag.")
        }
        if delete, point != nil || note != nil || force {
            throw ValidationError("--delete takes a tag's name only.")
        }
    }

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "tag")
        guard let name else { return try await list() }
        let run = TagRun(store: store, change: change, format: format, tag: name)
        if delete {
            _ = try await store.read { try $0.tag(named: name) }
            return try await run.run { storage, metadata, isDryRun in
                try await storage.engine.removeTag(name, metadata: metadata, isDryRun: isDryRun)
            }
        }
        try TagName.validate(name)
        let command = self
        let position = try await store.read { try command.position(for: name, $0) }
        let (note, force) = (note, force)
        try await run.run { storage, metadata, isDryRun in
            try await storage.engine.tag(
                name, at: .position(position), note: note, moves: force, metadata: metadata, isDryRun: isDryRun)
        }
    }

    /// Returns the position for the tag. An existing tag keeps its position if only its note is given.
    private func position(for name: String, _ store: HistoryReader) throws -> Int64 {
        let known = try store.tags.tag(named: name)
        if let known, point == nil, note != nil, !force { return known.position }
        let position = try store.taggedPosition(of: point ?? .head)
        guard let known, known.position != position, !force else { return position }
        throw CommandError(
            .conflict, "There is a tag \"\(name)\" already, at @\(known.position).",
            why: "An existing tag is moved only with --force.",
            next: "Choose another name, or move it: storagekit tag \(name.quotedAsShellWord) @\(position) --force")
    }

    private func list() async throws {
        let format = format
        try await store.read { store in
            let output = ResultOutput(format)
            var table = TableLayout(
                [.init("tag"), .init("point"), .init("commit"), .init("time"), .init("by"), .init("note")],
                width: output.width)
            var isEmpty = true
            try store.tags.forEachTag { tag in
                isEmpty = false
                let commit = try store.index.commit(at: tag.position)
                if output.format == .human {
                    table.add([
                        TableCell(.tag(tag.name), .heading), TableCell(.position(tag.position)),
                        commit.map { TableCell(.commit($0.info.number)) } ?? TableCell(""),
                        TableCell(commit.map { Timestamp.shown($0.info.time) } ?? "", .dim),
                        TableCell(CommitText.author(tag.commit.metadata), .dim), TableCell(tag.note ?? ""),
                    ])
                } else {
                    try output.record(TagRecord(tag: tag, commit: commit?.info))
                    try output.flushIfDue()
                }
                return true
            }
            if output.format == .human {
                if isEmpty {
                    try output.line("No tags.", .dim)
                } else {
                    try output.lines(table.lines(style: output.style))
                }
            }
            try output.finish()
        }
    }

}
