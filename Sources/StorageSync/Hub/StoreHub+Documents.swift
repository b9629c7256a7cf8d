internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog
internal import Synchronization

/// Single requests.
extension StoreHub {
    /// The names of the entities that a client may read.
    package func collections(as access: HubAccess) async throws -> [String] {
        try await storage.engine.read { db in
            try HubLog(db).catalog.live.filter { HubEntityTable($0) != nil && access.mayRead($0.name) }.map(\.name)
                .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
    }

    /// - Throws: ``HubError/notFound``; ``HubError/outdatedCondition``; ``HubError/invalid(_:)`` if the collection can't
    ///   be served.
    package func document(_ id: String, of entity: String, as access: HubAccess) async throws -> HubDocument {
        let scope = HubScope(entity, access)
        return try await storage.engine.read { db in
            let log = try HubLog(db)
            try log.check(scope)
            guard scope.entities.contains(entity), let table = log.table(entity), let key = table.key(of: id),
                let (position, row) = try table.row(key, in: log.database), scope.sees(row, in: table)
            else { throw HubError.notFound }
            return HubDocument(id: id, version: position, fields: table.fields(of: row).values)
        }
    }

    /// Documents by id. A collection that doesn't exist has none.
    ///
    /// - Parameter id: Return only documents after it.
    /// - Returns: As many as the limit says, or fewer if they are large.
    /// - Throws: ``HubError/forbidden`` if the client may not read the collection; ``HubError/outdatedCondition``;
    ///   ``HubError/invalid(_:)`` if the collection can't be served, or can't have such an id.
    package func documents(
        of entity: String, behind id: String? = nil, limit: Int, as access: HubAccess
    ) async throws -> HubDocumentPage {
        try await documents(of: entity, as: access) { log, table, scope in
            let start = try id.map { id in
                guard let key = table.key(of: id) else {
                    throw HubError(unserved: table.entity, for: id)
                }
                return key
            }
            return try table.documents(log, scope, behind: start, limit: limit, bytes: Self.maximumPageBytes)
        }
    }

    /// The documents that match a query, by the rules of ``QueryBuilder/apply(to:)``.
    ///
    /// - Throws: ``HubError/forbidden``; ``HubError/outdatedCondition``; ``HubError/invalid(_:)`` for a query that
    ///   can't be answered, or whose result exceeds ``Limits/queryBytes``.
    /// - Complexity: O(*n* log *n*) in the number of documents that the client may read; memory use is bounded.
    package func documents(
        of entity: String, matching query: QueryBuilder, as access: HubAccess
    ) async throws -> HubDocumentPage {
        let evaluation: QueryEvaluation
        do { evaluation = try QueryEvaluation(query) } catch let error as StorageError {
            throw HubError.invalid(error.message)
        }
        let maximum = limits.queryBytes
        return try await documents(of: entity, as: access) { log, table, scope in
            var selection = QuerySelection<HubDocument>(evaluation)
            try table.forEachDocument(in: log, scope: scope) { document, bytes in
                selection.add(document, id: document.id, json: JSONValue(fields: document.fields), byteCount: bytes)
                // The documents within the limit may be smaller. Cutting at twice the maximum keeps sorting rare.
                if selection.byteCount > 2 * maximum { selection.cut() }
                guard selection.byteCount <= 2 * maximum else { throw HubError.tooManyFound(bytes: maximum) }
                return true
            }
            selection.cut()
            guard selection.byteCount <= maximum else { throw HubError.tooManyFound(bytes: maximum) }
            return (selection.documents, false)
        }
    }

    private func documents(
        of entity: String, as access: HubAccess,
        _ find:
            @escaping @Sendable (HubLog, HubEntityTable, HubScope) throws -> (documents: [HubDocument], hasMore: Bool)
    ) async throws -> HubDocumentPage {
        guard access.mayRead(entity) else { throw HubError.forbidden }
        let scope = HubScope(entity, access)
        let line = line
        return try await storage.engine.read { db in
            let log = try HubLog(db)
            try log.check(scope)
            let found: (documents: [HubDocument], hasMore: Bool) =
                if let table = log.table(entity) { try find(log, table, scope) } else { ([], false) }
            return HubDocumentPage(
                documents: found.documents, hasMore: found.hasMore, position: log.head, line: line)
        }
    }

    /// Makes a single write, durable when it returns.
    ///
    /// - Parameter key: If the client has already used it for the same write, nothing is written, and the first outcome
    ///   is returned.
    /// - Throws: ``HubError``.
    package func write(
        _ operation: WriteOperation, to id: String, of entity: String,
        expecting expected: HubPrecondition? = nil,
        key: HubRequestKey? = nil, as access: HubAccess
    ) async throws -> HubOutcome {
        guard access.mayWrite(entity) else { throw HubError.forbidden }
        let write = HubWrite(
            origin: 0, document: DocumentID(entity: entity, id: id), operation: operation, base: .max)
        do {
            do {
                return try await self.write(write, expecting: expected, key: key, as: access)
            } catch  where error.isCausedByTableSchema {
                // A commit records what can be followed, as a column that was renamed. One that fails doesn't.
                _ = try await storage.engine.commit(CommitMetadata()) { _, _ in }
                return try await self.write(write, expecting: expected, key: key, as: access)
            }
        } catch let error as HubWriter.Rejected {
            throw HubError(error.rejection)
        } catch let error as StorageError where error.isCausedByUnrecordedRow {
            throw HubError.unrecorded
        } catch let error as StorageError where !error.isOfTheStore {
            throw HubError.invalid(access.reason(error))
        }
    }

    /// The outcome is read once the commit is made, because triggers may have changed the document after the write, and
    /// stored in the same transaction if the request has a key.
    private func write(
        _ write: HubWrite, expecting expected: HubPrecondition?, key: HubRequestKey?, as access: HubAccess
    ) async throws -> HubOutcome {
        let (limit, lineage) = (limits.keys, lineage)
        // A commit may run more than once; the last run counts.
        let none = HubOutcome(version: nil, position: 0, isCreated: false)
        let result = Mutex<(outcome: HubOutcome, isKnown: Bool)>((none, false))
        _ = try await storage.engine.commit(Self.metadata(access)) { writer, db in
            let log = (head: writer.nextPosition - 1, lineage: lineage)
            let known = try key.flatMap { try HubRequestsTable.outcome(of: $0, by: access.namespace, log: log, in: db) }
            let isCreated =
                try known == nil
                && HubWriter(writer, db, as: access).change(write, from: nil, expecting: expected)
            let made = HubOutcome(version: nil, position: 0, isCreated: isCreated)
            result.withLock { $0 = (known ?? made, known != nil) }
        } afterwards: { writer, db, receipt in
            let (made, isKnown) = result.withLock { $0 }
            guard !isKnown else { return }
            // After a deletion, a document that the client doesn't see may still exist.
            let version =
                try write.operation == .delete
                ? nil : HubWriter(writer, db, as: access).version(of: write.document)
            let outcome = HubOutcome(version: version, position: receipt.last, isCreated: made.isCreated)
            if let key {
                try HubRequestsTable.save(
                    outcome, of: key, by: access.namespace, keeping: limit, lineage: lineage, in: db)
            }
            result.withLock { $0.outcome = outcome }
        }
        return result.withLock { $0.outcome }
    }

    private static func metadata(_ access: HubAccess) -> CommitMetadata {
        CommitMetadata(actor: access.actor, reason: "hub")
    }
}

extension HubError {
    fileprivate static func tooManyFound(bytes: Int) -> HubError {
        .invalid(
            "The query's result exceeds \(bytes >> 20) MiB. Set a limit, or a lower one, and continue with a cursor after the last document."
        )
    }

    fileprivate init(_ rejection: WriteRejection) {
        self =
            switch rejection {
            case .deleted, .missing, .unknown: .notFound
            case .conflict: .preconditionFailed
            case .invalid(let reason): .invalid(reason)
            }
    }
}

extension HubEntityTable {
    /// The documents that a client sees, by id.
    ///
    /// - Parameters:
    ///   - start: The key of the document before the first one.
    ///   - bytes: Stops after the document that exceeds this size.
    /// - Returns: The documents, and whether more follow.
    fileprivate func documents(
        _ log: HubLog, _ scope: HubScope, behind start: StorageValue?, limit: Int, bytes: Int
    ) throws -> (documents: [HubDocument], hasMore: Bool) {
        var documents: [HubDocument] = []
        var (total, hasMore) = (0, false)
        try forEachDocument(in: log, scope: scope, behind: start, limit: limit + 1) { document, count in
            hasMore = documents.count >= limit || total > bytes
            guard !hasMore else { return false }
            total += count
            documents.append(document)
            return true
        }
        return (documents, hasMore)
    }

    /// Reads the documents that a client sees, by id, until the body returns false. The body receives each document and
    /// its size.
    ///
    /// - Parameter limit: A hint for how many are needed; nil for all.
    fileprivate func forEachDocument(
        in log: HubLog, scope: HubScope, behind start: StorageValue? = nil, limit: Int? = nil,
        _ body: (HubDocument, Int) throws -> Bool
    ) throws {
        guard let candidates = scope.candidates(in: self) else { return }
        let name = quoted(key.stored)
        let statement = try PreparedStatement(
            log.database,
            """
            \(select) WHERE \(candidates.clause) \(start == nil ? "" : "AND \(name) > ?") ORDER BY \(name) LIMIT ?
            """)
        // Not all candidates may be visible.
        let rows = scope.isLimited(in: self) ? -1 : limit.map { Int64($0) } ?? -1
        let values = candidates.values + (start.map { [$0] } ?? []) + [.integer(rows)]
        for (index, value) in values.enumerated() { ExactValue(value).bind(to: statement, at: Int32(index + 1)) }
        while try statement.step() {
            let (position, row) = row(statement)
            guard scope.sees(row, in: self), let id = id(of: row.key) else { continue }
            let fields = fields(of: row).values
            let bytes = fields.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
            guard try body(HubDocument(id: id, version: position, fields: fields), bytes) else { return }
        }
    }
}

extension JSONValue {
    /// A field with a number that can't be represented is treated as missing.
    init(fields: [String: String]) {
        self =
            (try? _StorageJSON.value(JSONValue.self, of: .text(DocumentFields(fields).json)))
            ?? .object(fields.compactMapValues { try? _StorageJSON.value(JSONValue.self, of: .text($0)) })
    }
}
