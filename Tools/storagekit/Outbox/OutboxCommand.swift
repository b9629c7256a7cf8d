import ArgumentParser
import GRDB
import StorageCore
import StorageKit
import StorageSync

/// `storagekit outbox`: the writes that sync engines haven't sent yet.
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox", abstract: "List, retry or discard pending writes of sync engines.",
        discussion: """
            An engine has one outbox per path of its remote. A rejected write is parked: it blocks later writes of \
            its document until it is retried or discarded. Only the program can send writes.

              storagekit outbox -s app.sqlite
              storagekit outbox list task_42 -s app.sqlite --format json
              storagekit outbox retry -s app.sqlite
              storagekit outbox retry task_42 -s app.sqlite
              storagekit outbox discard task_42 --dry-run -s app.sqlite
              storagekit outbox discard --all --parked --key tasks --yes -s app.sqlite

            retry ends the back-off; with a document, or --all, it also sends parked writes again. discard drops \
            writes, parked or not: the next time the program uses the engine, their documents are reset to the \
            remote's last known version plus the remaining writes, or deleted if the remote has none. Rows don't \
            change until then. Writes that are sent together are retried and discarded together.

            list works while the program runs. retry and discard need the store closed; a running program calls the \
            same methods of its engine. Changes are recorded: storagekit log --table storage_operation -p
            """)

    enum Action: String, ExpressibleByArgument, CaseIterable {
        case list, retry, discard
    }

    @Argument(help: "What to do: \(Action.allCases.map(\.rawValue).joined(separator: ", ")).")
    var action = Action.list

    @Argument(help: "The id of a document.")
    var document: String?

    @OptionGroup var store: StoreOption

    @Option(help: "Only the engine with this key.")
    var key: String?

    @Option(help: "Only the outbox of this path.")
    var path: String?

    @Option(help: "Only the write at this position.")
    var position: Int64?

    @Flag(help: "Only parked writes.")
    var parked = false

    @Flag(help: "Retry or discard the writes of all documents.")
    var all = false

    @Option(name: [.customShort("n"), .long], help: "How many writes of each outbox to show.")
    var limit = 50

    @OptionGroup var change: ChangeOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if action == .list, all || change.dryRun || change.reason != nil || change.yes {
            throw ValidationError("--all, --dry-run, --reason and --yes require retry or discard.")
        }
        if all, document != nil || position != nil { throw ValidationError("Name a document or write, or add --all.") }
        if action == .retry, parked, !all, !isNamed {
            throw ValidationError("retry ends the wait. To send parked writes again, name a document, or add --all.")
        }
        if action == .discard, !all, document == nil, position == nil {
            throw ValidationError("Name a document, or add --position or --all.")
        }
        if limit < 0 { throw ValidationError("--limit must not be negative.") }
    }

    /// Whether single writes are named: then it is an error if none is found.
    private var isNamed: Bool { document != nil || position != nil }

    private func isMeant(_ write: OutboxStatus.Write) -> Bool {
        (document == nil || write.documentId == document) && (position == nil || write.position == position)
            && (!parked || write.isParked)
    }

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "outbox")
        switch action {
        case .list: try await list()
        case .retry, .discard: try await change()
        }
    }

    /// Returns the selected outboxes.
    private func outboxes(in db: GRDB.Database) throws -> [OutboxStatus] {
        let all = try OutboxStatus.all(in: db)
        let found = all.filter { (key == nil || $0.manager == key) && (path == nil || $0.path == path) }
        if found.isEmpty, key != nil || path != nil {
            let names = all.map { $0.path.isEmpty ? $0.manager : "\($0.manager) (\($0.path))" }
            throw CommandError(
                .notFound, "There is no such outbox in the store.",
                why: StorageError.existing(names, none: "No sync engine has used it."),
                next: "Type: storagekit outbox")
        }
        if isNamed, !found.contains(where: { $0.writes.contains(where: isMeant) }) {
            let named = [document.map { "of the document \"\($0)\"" }, position.map { "at @\($0)" }].compactMap { $0 }
            throw CommandError(
                .notFound, "There is no \(parked ? "parked" : "unsent") write \(named.joined(separator: " ")).",
                why: "Writes that the remote has accepted leave the outbox.", next: "Type: storagekit outbox")
        }
        return found
    }

    private func list() async throws {
        let command = self
        try await store.read { store in
            let outboxes = try command.outboxes(in: store.database)
            let output = OutboxOutput(command.format, limit: command.limit, index: store.index)
            try output.write(outboxes, where: command.isMeant)
        }
    }
}

// MARK: Changing

extension OutboxCommand {
    /// Returns the outboxes to change, each with its writes to change.
    private func changed(in db: GRDB.Database) throws -> [OutboxStatus] {
        let outboxes = try outboxes(in: db)
        switch action {
        case .list: return []
        case .discard: return outboxes.map { $0.selecting(isMeant) }.filter { !$0.writes.isEmpty }
        case .retry:
            return outboxes.map { outbox in
                outbox.selecting { $0.isParked && (all || isNamed) && isMeant($0) }
            }.filter { $0.failures > 0 || !$0.writes.isEmpty }
        }
    }

    private func change() async throws {
        let command = self
        let plan = try await store.read { try command.changed(in: $0.database) }
        let report = OutboxReport(action: action, format: format)
        guard !change.dryRun, !plan.isEmpty else { return try report.write(plan, isDryRun: change.dryRun) }
        if action == .discard { try change.confirm("\(report.sentence(plan, isDone: false)). Continue?") }
        do {
            let done = try await store.write(isDryRun: false) { storage in
                try await storage.engine.withWriter { writer, db in try command.change(writer, db) }
            }
            try OutputFailure.reporting(
                done.isEmpty ? nil : "The change was stored", next: "Type: storagekit outbox"
            ) { try report.write(done, isDryRun: false) }
        } catch let error as StorageError where error.code == .busy {
            throw CommandError(
                .unavailable, error.message,
                why: "While a program has the store open for writing, its engines decide what is sent.",
                next:
                    "Call \(action == .retry ? "retryNow() or retry(_:)" : "discard(_:)") of the engine, or end the program first."
            )
        }
    }

    private func change(_ writer: LogWriter, _ db: GRDB.Database) throws -> [OutboxStatus] {
        try writer.group(db) {
            let outboxes = try changed(in: db)
            guard !outboxes.isEmpty else { return [] }
            for outbox in outboxes {
                if action == .retry { try outbox.retry(at: SystemTime.now, in: db) } else { try outbox.discard(in: db) }
            }
            let operation = try StorageOperation(
                "outbox \(action.rawValue)", subject: outboxes.count == 1 ? outboxes[0].manager : nil,
                outcome: OutboxOutcome(outboxes: outboxes))
            try writer.record(operation, metadata: change.metadata)
            return outboxes
        }
    }
}
