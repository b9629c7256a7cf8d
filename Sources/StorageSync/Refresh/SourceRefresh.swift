internal import Foundation
internal import StorageCore
internal import StorageKit
internal import StorageLog
internal import StorageProjections

/// One refresh of a source: asks its remote page by page, and merges each page as a commit.
///
/// The commits' actor is the source, their reason the policy, their correlation this refresh. Deletions and the source's new state
/// are part of the last commit, so whatever ends the refresh before leaves it as old as it was.
struct SourceRefresh<Element: RegisteredEntity>: Sendable {
    let storage: Storage
    let source: QuerySource<Element>
    let action: QueryRefreshAction<Element>
    private let id = UUID().uuidString

    /// - Returns: The state of the source afterwards.
    ///
    /// - Throws: ``SourceFailure`` where the remote has failed or its answer couldn't be stored; other errors say that the store can't be
    ///   used at all.
    func run() async throws -> QuerySourceStatus {
        guard !storage.engine.configuration.isReadOnly else { throw StorageError.onlyRead(source.label) }
        var status = try await storage.status(of: source)
        status.policy = "\(source.policy)"
        status.lastAttempt = storage.config.clock.now
        do {
            return try await fetch(status)
        } catch {
            // A refresh that nobody waits for any more hasn't failed.
            guard !(error is CancellationError), !Task.isCancelled else { throw CancellationError() }
            let failure = self.failure(error)
            status.note(failure, cause: error, now: storage.config.clock.now)
            await store(status)
            throw SourceFailure(status: status, error: failure)
        }
    }

    private func fetch(_ earlier: QuerySourceStatus) async throws -> QuerySourceStatus {
        var merge = SourceMerge<Element>(
            request: source.request, strategy: action.merge, start: storage.head)
        var fetch = QueryFetch(validator: try await validator(of: earlier))
        var validator: String?
        var cursors: Set<String> = []
        while true {
            let answer = try await action.fetch(fetch)
            try Task.checkCancellation()
            switch answer {
            case .notModified:
                guard fetch.cursor == nil, fetch.validator != nil else {
                    throw StorageError(
                        .remoteFailed, "The remote says that nothing changed, but wasn't asked that.",
                        remedy: "Answer `notModified` only where the request has a validator.")
                }
                let status = earlier.succeeding(source.policy, now: storage.config.clock.now)
                try await commit { try SourceStateTable.save(status, in: $0.database) }
                return status
            case .rows(let rows, let next, let given):
                if fetch.cursor == nil { validator = given }
                let page = merge
                if let next {
                    // What a cursor says isn't repeated: it may hold a secret.
                    guard cursors.insert(next).inserted else {
                        throw StorageError(
                            .remoteFailed, "The remote's pages go in a circle: one was named as the next one twice.",
                            remedy: "Answer nil as the next page after the last one.")
                    }
                    let receipt = try await commit { try page.save(rows, in: $0) }
                    merge.note(rows, receipt)
                    fetch = QueryFetch(cursor: next)
                    continue
                }
                var last = earlier.succeeding(source.policy, now: storage.config.clock.now)
                (last.validator, last.position, last.refresh) = (validator, merge.start, id)
                merge.note(rows, nil)
                let (whole, status) = (merge, last)
                try await commit { tx in
                    try page.save(rows, in: tx)
                    try whole.deleteMissing(in: tx)
                    try SourceStateTable.save(status.seen(in: tx.writer), in: tx.database)
                }
                return status
            }
        }
    }

    /// What the last answer came with, if the entity's rows are what they were after it: a remote that says that nothing has changed
    /// says so of its own rows only.
    private func validator(of status: QuerySourceStatus) async throws -> String? {
        guard let validator = status.validator, storage.head >= status.position else { return nil }
        var query = LogQuery(tables: [Element.Record.databaseTableName])
        query.positions = (status.position + 1)...Int64.max
        let (changes, refresh) = (query, status.refresh)
        let isUnchanged = try await storage.engine.read { db in
            guard let connection = db.sqliteConnection else { throw StorageError.closed() }
            var isUnchanged = true
            try LogReader(connection).forEachEvent(changes, catalog: try Catalog.load(connection)) { _, _, commit in
                isUnchanged = commit.metadata.correlation == refresh
                return isUnchanged
            }
            return isUnchanged
        }
        return isUnchanged ? validator : nil
    }

    @discardableResult
    private func commit(_ body: @escaping @Sendable (WriteTransaction) throws -> Void) async throws -> CommitReceipt {
        try await storage.write(
            actor: source.label, reason: "\(source.policy)", correlation: id, body)
    }

    /// Keeps what went wrong. Where even that can't be written, the store says so itself to whoever writes next.
    private func store(_ status: QuerySourceStatus) async {
        _ = try? await commit { try SourceStateTable.save(status, in: $0.database) }
    }

    private func failure(_ error: any Error) -> StorageError {
        if let error = error as? StorageError { return error }
        return StorageError(
            .remoteFailed, "The remote of \(source.label) failed: \(error)",
            remedy: "It is asked again by itself; refresh() asks at once.", cause: error)
    }
}

extension StorageError {
    fileprivate static func onlyRead(_ source: String) -> StorageError {
        StorageError(
            .readOnly, "The store is open for reading only, so \(source) isn't fetched.",
            remedy: "Fetch it in the process that writes the store; its rows are seen here.")
    }
}

/// A refresh that failed, and what is known of the source since.
struct SourceFailure: Error {
    let status: QuerySourceStatus
    let error: StorageError
}

extension QuerySource {
    /// The source as it is named in commits: `TaskSources.byPriority(2)`.
    var label: String { parameter.isEmpty ? name : "\(name)(\(parameter))" }
}

extension QuerySourceStatus {
    /// The state with the end of the log as the commit under way leaves it.
    fileprivate func seen(in writer: LogWriter) throws -> QuerySourceStatus {
        var status = self
        status.end = writer.nextPosition - 1
        status.line = try StoreLineage.load(writer.database).line(of: status.end).id
        return status
    }

    func succeeding(_ policy: QueryCachePolicy, now: Date) -> QuerySourceStatus {
        var status = self
        status.policy = "\(policy)"
        status.lastRefresh = now
        status.failures = 0
        status.lastError = nil
        status.retryTime = nil
        status.staleTime = policy.maximumAge.map { now + $0.seconds }
        return status
    }

    mutating func note(_ failure: StorageError, cause: any Error, now: Date) {
        failures += 1
        lastError = failure.message
        let asked = (cause as? any RetryableError)?.retryAfter?.seconds ?? 0
        let wait = max(RetryDelay.fullJitter(after: failures), min(asked, QueryCachePolicy.longestWait))
        retryTime = now + wait
    }
}
