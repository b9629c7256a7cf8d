internal import Foundation
internal import StorageCore
internal import StorageEntities
internal import StorageKit
internal import StorageLog

/// One refresh of a source: requests pages from its remote, and merges each in a commit.
///
/// The commits' actor is the source, their reason the policy, their correlation this refresh. Deletions and the
/// source's new state are part of the last commit, so an interrupted refresh leaves the source as old as it was.
struct SourceRefresh<Element: RegisteredEntity>: Sendable {
    let storage: Storage
    let source: QuerySource<Element>
    let action: QueryRefreshAction<Element>
    private let id = UUID().uuidString

    /// Runs the refresh.
    ///
    /// - Returns: The new state of the source.
    /// - Throws: ``SourceFailure`` if the remote has failed or its answer couldn't be stored; other errors mean that
    ///   the store can't be used at all, or not for these rows.
    func run() async throws -> QuerySourceStatus {
        guard !storage.engine.configuration.isReadOnly else { throw StorageError.onlyRead(source.label) }
        try await checkIsDeclared()
        var status = try await storage.status(of: source)
        status.policy = "\(source.policy)"
        status.lastAttempt = storage.config.clock.now
        do {
            return try await fetch(status)
        } catch {
            // A refresh that was cancelled hasn't failed. A remote that has cancelled its own work has.
            guard !Task.isCancelled else { throw CancellationError() }
            let failure = self.failure(error)
            status.note(failure, cause: error, now: storage.config.clock.now)
            await store(status)
            throw SourceFailure(status: status, error: failure)
        }
    }

    /// Rows without a table aren't requested: the remote hasn't failed.
    private func checkIsDeclared() async throws {
        let table = Element.Record.databaseTableName
        try await storage.engine.read { db in
            let connection = try db.connection
            if try Catalog.load(connection).entity(named: table) == nil { throw StorageError.noEntity(table) }
        }
    }

    private func fetch(_ earlier: QuerySourceStatus) async throws -> QuerySourceStatus {
        let beginning = try await begin(earlier)
        var merge = try SourceMerge(
            request: source.request, strategy: action.merge, start: beginning.position, unsent: beginning.unsent)
        var fetch = QueryFetch(validator: beginning.validator)
        var validator: String?
        var cycles = PageCycleDetector()
        while true {
            let answer = try await action.fetch(fetch)
            try Task.checkCancellation()
            switch answer {
            case .notModified:
                guard fetch.cursor == nil, fetch.validator != nil else { throw StorageError.notAskedForChanges() }
                return try await confirm(earlier, at: beginning.position)
            case .rows(let rows, let next, let given):
                if fetch.cursor == nil {
                    validator = given
                    merge.watchesWindow = given != nil && window.isDecidable
                }
                try merge.note(rows)
                let page = merge
                guard let next else {
                    return try await finish(page, saving: rows, after: earlier, validator: validator)
                }
                guard !cycles.detectsCycle(at: next) else { throw StorageError.endlessPages() }
                merge.note(try await commit { try page.save(rows, in: $0) })
                fetch = QueryFetch(cursor: next)
            }
        }
    }

    private var window: ValidatorFreshness<Element> {
        ValidatorFreshness(request: source.request, strategy: action.merge, upcasts: storage.upcasts)
    }

    /// The state at the start of a request.
    private struct Beginning {
        /// The end of the log.
        let position: Int64
        let unsent: UnsentRows
        /// The last answer's validator, if the store still contains that answer.
        let validator: String?
    }

    private func begin(_ status: QuerySourceStatus) async throws -> Beginning {
        let window = window
        return try await storage.engine.read { db in
            let connection = try db.connection
            let reader = LogReader(connection)
            let position = try reader.head().position
            let unsent = try UnsentRows(of: Element.Record.databaseTableName, in: db, reader)
            let holds =
                try status.validator != nil && position >= status.position && status.query == window.identity
                && !window.mayHaveChanged(behind: status.position, isClosed: status.isClosed, in: connection)
            return Beginning(position: position, unsent: unsent, validator: holds ? status.validator : nil)
        }
    }

    /// Saves the last page, deletes rows that the remote no longer has, and stores the source's new state.
    private func finish(
        _ merge: SourceMerge<Element>, saving rows: [Element], after earlier: QuerySourceStatus, validator: String?
    ) async throws -> QuerySourceStatus {
        let refreshed = succeeding(earlier)
        let window = window
        return try await commit { tx in
            let begin = tx.writer.nextPosition
            let page = try merge.save(rows, in: tx)
            let hasKept = try merge.deleteMissing(in: tx) || page.hasKeptRows
            var status = refreshed
            try status.see(tx.writer)
            status.position = status.end
            status.query = window.identity
            status.isClosed = merge.isClosed && page.isInWindow && window.isDecidable
            status.validator = nil
            if let validator, try !hasKept && !merge.hasKeptRows && !merge.hasOthersChanges(before: begin, in: tx) {
                status.validator = validator
            }
            try SourceStateTable.save(status, in: tx.database)
            return status
        }
    }

    /// Stores that nothing has changed.
    ///
    /// - Parameter position: The position up to which the store's rows are those covered by the validator.
    private func confirm(_ earlier: QuerySourceStatus, at position: Int64) async throws -> QuerySourceStatus {
        let confirmed = succeeding(earlier)
        return try await commit { tx in
            var status = confirmed
            try status.see(tx.writer)
            status.position = position
            try SourceStateTable.save(status, in: tx.database)
            return status
        }
    }

    private func succeeding(_ earlier: QuerySourceStatus) -> QuerySourceStatus {
        var status = earlier.succeeding(source.policy, now: storage.config.clock.now)
        status.refresh = id
        return status
    }

    private func commit<Result: Sendable>(
        _ body: @escaping @Sendable (WriteTransaction) throws -> Result
    ) async throws -> Result {
        let metadata = CommitMetadata(
            actor: source.label, app: CommitContext.app, reason: "\(source.policy)", correlation: id,
            attributes: FetchedCommit.attributes)
        return try await storage.commit(metadata, returning: body).value
    }

    /// Stores a failure. If even that can't be written, the next writer gets the store's error.
    private func store(_ status: QuerySourceStatus) async {
        try? await commit { try SourceStateTable.save(status, in: $0.database) }
    }

    private func failure(_ error: any Error) -> StorageError {
        if let error = error as? StorageError { return error }
        return StorageError(
            .remoteFailed, "The remote of \(source.label) failed: \(error)",
            remedy: .remedy(isRefused: error.isRefusal), cause: error)
    }
}

extension String {
    /// The remedy for a source whose remote has failed.
    static func remedy(isRefused: Bool) -> String {
        isRefused
            ? "It isn't retried automatically: fix the cause, then call credentialsChanged() or refresh()."
            : "It is retried automatically; refresh() retries at once."
    }
}

extension StorageError {
    fileprivate static func onlyRead(_ source: String) -> StorageError {
        StorageError(
            .readOnly, "The store is open for reading only, so \(source) isn't fetched.",
            remedy: "Fetch it in the process that writes the store; its rows then appear here.")
    }

    fileprivate static func notAskedForChanges() -> StorageError {
        StorageError(
            .remoteFailed, "The remote answered that nothing changed, but the request had no validator.",
            remedy: "Return `notModified` only if the request has a validator.")
    }

    /// The cursor isn't included: it may contain a secret.
    fileprivate static func endlessPages() -> StorageError {
        StorageError(
            .remoteFailed, "The remote's pages form a cycle: the same next page was named twice.",
            remedy: "Return nil as the next page after the last one.")
    }
}

/// A refresh that failed, and the source's new state.
struct SourceFailure: Error {
    let status: QuerySourceStatus
    let error: StorageError
}

extension QuerySource {
    /// The source's name in commits: `TaskSources.byPriority(2)`.
    var label: String { parameter.isEmpty ? name : "\(name)(\(parameter))" }
}

extension QuerySourceStatus {
    /// Takes the end of the log from the current commit.
    fileprivate mutating func see(_ writer: LogWriter) throws {
        end = writer.nextPosition - 1
        line = try StoreLineage.load(writer.database).line(of: end).id
    }

    func succeeding(_ policy: QueryCachePolicy, now: Date) -> QuerySourceStatus {
        var status = self
        status.policy = "\(policy)"
        status.lastRefresh = now
        status.failures = 0
        status.lastError = nil
        status.isRefused = false
        status.retryTime = nil
        status.staleTime = policy.maximumAge.map { now + $0.seconds }
        return status
    }

    mutating func note(_ failure: StorageError, cause: any Error, now: Date) {
        failures += 1
        lastError = failure.message
        isRefused = cause.isRefusal
        retryTime = nil
        guard !isRefused else { return }
        let longest = QueryCachePolicy.longestWait
        let asked = ((cause as? any RetryableError)?.retryAfter?.seconds).map { min(max($0, 0), longest) * 1_000_000 }
        var generator = SystemRandomNumberGenerator()
        let delay = RemoteDelay(
            after: failures, remoteAsksFor: asked.map { Int64($0) }, longest: Int64(longest * 1_000_000),
            using: &generator)
        retryTime = now + Double(delay.microseconds) / 1_000_000
    }
}

extension Error {
    /// Whether repeating the request is pointless.
    fileprivate var isRefusal: Bool { (self as? any RetryableError)?.isRefusal ?? false }
}
