import Foundation
import StorageKit
import Synchronization

/// Serves a browser's requests with the readers of the other commands.
///
/// Isolation: an actor; each read runs on a connection of the store's.
actor BrowserReader {
    private let option: StoreOption
    private let path: String
    private let storage: Storage
    private let file: FollowedFile
    private var sources: [Int: any PageSource] = [:]

    /// - Throws: Errors of opening the store.
    init(_ option: StoreOption) throws {
        self.option = option
        path = try option.path()
        file = FollowedFile(path)
        storage = try option.openForReading()
    }

    /// How long a read may take before its progress is shown.
    private static let patience = Duration.milliseconds(200)

    /// Runs a request and sends its answers; the last one ends the read. A cancelled task ends early.
    func run(_ request: ReadRequest, _ send: @escaping @Sendable (ReadAnswer) -> Void) async {
        let reminder = Task {
            try await Task.sleep(for: Self.patience)
            send(.progress(""))
        }
        defer { reminder.cancel() }
        do {
            switch request.content {
            case .page(let page, let lines):
                if case .plan(let reversal) = request.location {
                    try await plan(reversal, send)
                } else {
                    try await read(page, for: request, lines: lines, search: nil, send)
                }
            case .search(let search, let cursor, let forward):
                let page: LinePage = cursor.map { forward ? .after($0) : .before($0) } ?? (forward ? .first : .last)
                try await read(page, for: request, lines: 0, search: search, send)
            case .apply(let plan, let reason): try await apply(plan, request.location, reason: reason, send)
            }
        } catch is CancellationError {
            send(.cancelled)
        } catch {
            send(.failed(CommandError(wrapping: error)))
        }
    }

    /// The current end of the log.
    func head() async throws -> LogHead { try await storage.readHistory { $0.head } }

    /// Yields when other processes may have committed; ends when the file is gone, which `checkFile` reports.
    nonisolated func follow() -> AsyncStream<Void> {
        let file = file
        return FollowedCommits.stream(of: storage) { FollowDeadline.start(for: nil, on: file, $0) }
    }

    nonisolated func checkFile() throws { try file.check() }

    func close() async throws { try await storage.close() }

    // MARK: Pages

    private func read(
        _ page: LinePage, for request: ReadRequest, lines: Int, search: LineSearch?,
        _ send: @escaping @Sendable (ReadAnswer) -> Void
    ) async throws {
        let source = source(for: request)
        let isCancelled = Mutex(false)
        try await withTaskCancellationHandler {
            let answers = try await storage.readHistory { store in
                let writer = PageWriter(
                    lines: lines, search: search, isCancelled: { isCancelled.withLock { $0 } }, send: send)
                try source.read(page, in: store, to: writer)
                writer.flush()
                return search == nil
                    ? ReadAnswer.finished(hasMore: writer.isFull, head: store.head) : .found(writer.match)
            }
            send(answers)
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    private func source(for request: ReadRequest) -> any PageSource {
        sources = sources.filter { request.openScreens.contains($0.key) }
        if let source = sources[request.screen] { return source }
        let source: any PageSource =
            switch request.location {
            case .timeline(let filter): TimelineSource(filter: filter)
            case .commit(let number): CommitSource(number: number)
            case .history(let target): HistorySource(target: target)
            case .difference(let difference): DifferenceSource(difference)
            case .tables(let point): TablesSource(point: point)
            case .rows(let table, let point): RowsSource(table, at: point)
            case .plan, .help: NothingSource()
            }
        sources[request.screen] = source
        return source
    }

    // MARK: Changes

    private func plan(_ reversal: ReversalRequest, _ send: @Sendable (ReadAnswer) -> Void) async throws {
        let plan = try await reversal.command(store: path).reversalRun().planned()
        try Task.checkCancellation()
        send(.planned(plan))
        let subject = LineSubject(commit: plan.report.revertedCommit)
        let items = plan.lines(limit: plan.report.plan.count).enumerated().map { index, line in
            ScreenItem(at: Int64(index)...Int64(index), [ScreenLine(line.limited, subject: subject)])
        }
        send(.items(items))
        send(.finished(hasMore: false, head: try await head()))
    }

    private func apply(
        _ plan: ReversalRun.Plan, _ location: Location, reason: String, _ send: @Sendable (ReadAnswer) -> Void
    ) async throws {
        guard case .plan(let reversal) = location else { return }
        let run = try await reversal.command(store: path, reason: reason).reversalRun()
        let done = try await run.applyConfirmed(plan)
        send(.applied(done.resultLine(isDone: true)?.plain ?? ""))
    }
}

/// A source without lines.
private struct NothingSource: PageSource {
    func read(_ page: LinePage, in store: HistoryReader, to writer: PageWriter) {}
}
