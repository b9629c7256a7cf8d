internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// The history that a transaction needs of the documents it writes.
///
/// It is looked up before anything is written, because the events of a transaction aren't in the log until it ends. The
/// outlines of the log suffice: a batch writes many documents, and their values matter only for deleted ones. Deletions
/// by the transaction's own writes are recorded as they are made; those by triggers and cascades are known to the next
/// transaction.
///
/// Not `Sendable`: it lives as long as the transaction.
final class HubHistory {
    struct Deletion {
        let position: Int64
        /// Nil if the hub's own program has deleted it.
        let producer: ProducerID?
        /// The deleted row.
        let row: HubEntityTable.Row
        let table: HubEntityTable
    }

    private struct Write: Hashable {
        let producer: ProducerID
        let origin: Int64
    }

    /// The lifetime of a document, from its creation to its deletion. A later document with the same id is another one:
    /// a client may see one of them and not the other.
    private struct Existence<Deletion> {
        /// Set if conditional writes concern it, or the transaction has changed it.
        var changes: LastChanges?
        /// Nil for the current document.
        var deletion: Deletion?
    }

    private var positions: [Write: Int64] = [:]
    /// Newest first.
    private var existences: [DocumentID: [Existence<Deletion>]] = [:]
    /// Writes that would have taken too long to look up.
    private var unknownWrites: Set<Write> = []
    private var unknownDocuments: Set<DocumentID> = []

    /// - Parameters:
    ///   - steps: How many versions of documents are searched, shared by all documents. Each document is searched once, newest
    ///     version first, whatever is asked about it.
    ///   - skipsUnfitTables: Whether documents of tables that can't be read are left out: writes to them fail as well.
    /// - Throws: `limit-exceeded` if the steps aren't enough for several writes: each may use as many by itself. For a single
    ///   write, the answer is then unknown.
    init(
        of batches: [(batch: HubBatch, access: HubAccess)], _ writer: LogWriter, _ db: Database, steps: Int,
        skipsUnfitTables: Bool
    ) throws {
        let questions = try Self.questions(of: batches, writer, db, skipsUnfitTables: skipsUnfitTables)
        let reader = LogReader(writer.database)
        var steps = steps
        for question in questions {
            var question = question
            try question.look(with: reader, &steps)
            for (origin, position) in question.positions { positions[origin] = position }
            existences[question.document] = try question.existences.map { existence in
                Existence(
                    changes: existence.changes,
                    deletion: try existence.deletion.flatMap { position in
                        try Self.deletion(at: position, in: question.table, reader, writer.catalog)
                    })
            }
            guard question.isOpen else { continue }
            guard batches.count == 1, batches[0].batch.writes.count == 1 else { throw StorageError.longHistory() }
            unknownWrites = question.writes
            if question.seeksDeletion || question.seeksChanges { unknownDocuments.insert(question.document) }
        }
    }

    /// The questions about each document, in the order of the writes.
    private static func questions(
        of batches: [(batch: HubBatch, access: HubAccess)], _ writer: LogWriter, _ db: Database, skipsUnfitTables: Bool
    ) throws -> [Question] {
        var questions: [Question] = []
        var questionIndices: [DocumentID: Int] = [:]
        var pushing: Set<ProducerID> = []
        for (batch, access) in batches {
            guard let producer = try HubProducersTable.load(batch.producer, in: db) else { continue }
            // A write that is refused or already answered needs no lookup. A later one may concern a new document by
            // then.
            guard
                pushing.contains(batch.producer)
                    || producer.admits(batch) == .new
            else { continue }
            pushing.insert(batch.producer)
            for write in batch.writes {
                guard let entity = writer.catalog.entity(named: write.document.entity),
                    let table = HubEntityTable(entity), let key = table.key(of: write.document.id)
                else { continue }
                let questionIndex = questionIndices[write.document] ?? questions.count
                if questionIndex == questions.count {
                    let version: Int64?
                    do { version = try table.row(key, in: writer.database)?.position } catch {
                        guard skipsUnfitTables, error.isCausedByTableSchema else { throw error }
                        continue
                    }
                    questionIndices[write.document] = questionIndex
                    questions.append(Question(document: write.document, table: table, key: key, version: version))
                }
                questions[questionIndex].base = min(questions[questionIndex].base, write.base)
                if write.isConditional { questions[questionIndex].seeksChanges = true }
                if access.grant(write.document.entity)?.condition != nil { questions[questionIndex].isLimited = true }
                if write.origin <= producer.lastOrigin {
                    questions[questionIndex].writes.insert(Write(producer: batch.producer, origin: write.origin))
                }
            }
        }
        return questions
    }

    /// The position at which a write was applied before: by a hub that this one was restored from, while the producer
    /// followed another, or by this transaction. Writes that changed nothing aren't found.
    func position(of origin: Int64, by producer: ProducerID) -> Int64? {
        positions[Write(producer: producer, origin: origin)]
    }

    /// Whether a write may have been applied before, but the search was too long.
    func isUnknown(_ origin: Int64, by producer: ProducerID) -> Bool {
        unknownWrites.contains(Write(producer: producer, origin: origin))
    }

    /// Whether the search of a document's history was too long.
    func isUnknown(_ document: DocumentID) -> Bool { unknownDocuments.contains(document) }

    /// The last deletion of a document that doesn't exist or was created again; nil if it was created again before all
    /// writes were made.
    ///
    /// - Parameter scope: The scope that must have seen the deleted row; nil for any.
    func deletion(of document: DocumentID, in scope: HubScope? = nil) -> Deletion? {
        existences[document]?.lazy.compactMap(\.deletion).first { scope?.sees($0.row, in: $0.table) ?? true }
    }

    /// The last change of a document by anybody but a producer; 0 if there is none. Changes of a deleted document count
    /// if it was visible then.
    ///
    /// - Parameter isVisible: Whether the document exists and is visible.
    func lastChange(
        of document: DocumentID, byOthersThan producer: ProducerID, in scope: HubScope, isVisible: Bool
    ) -> Int64 {
        for existence in existences[document] ?? [] {
            let counts = existence.deletion.map { scope.sees($0.row, in: $0.table) } ?? isVisible
            if counts, let position = existence.changes?.position(byOthersThan: producer), position > 0 {
                return position
            }
        }
        return 0
    }

    func note(_ deletion: Deletion, of document: DocumentID) {
        if let last = existences[document]?.first, last.deletion == nil {
            existences[document]?[0].deletion = deletion
        } else {
            existences[document, default: []].insert(Existence(deletion: deletion), at: 0)
        }
    }

    /// - Parameter isNew: Whether the change has created the document.
    func noteChange(
        of document: DocumentID, at position: Int64, by producer: ProducerID, origin: Int64, isNew: Bool
    ) {
        positions[Write(producer: producer, origin: origin)] = position
        var known = existences[document] ?? []
        if isNew || known.isEmpty { known.insert(Existence(), at: 0) }
        known[0].changes = LastChanges(position: position, producer: producer, before: known[0].changes)
        existences[document] = known
    }

    private static func deletion(
        at position: Int64, in table: HubEntityTable, _ reader: LogReader, _ catalog: Catalog
    ) throws -> Deletion? {
        guard let batch = try reader.batch(containing: position) else { return nil }
        let event = batch.event(at: Int(position - batch.header.first), catalog: catalog)
        return Deletion(
            position: position, producer: HubWriteSource(event.commit.metadata)?.producer,
            row: table.row(before: event),
            table: table)
    }
}

// MARK: One document

extension HubHistory {
    /// The questions about a document's history, and what was found.
    private struct Question {
        let document: DocumentID
        let table: HubEntityTable
        let key: StorageValue
        /// The lowest base of its writes: everything up to it was known to the writers.
        var base = Int64.max
        /// Writes that may have been applied before and weren't found yet.
        var writes: Set<Write> = []
        var seeksDeletion: Bool
        var seeksChanges = false
        /// Whether a client that asks doesn't see all documents: the last deletion and changes may then be invisible to it, and earlier ones count.
        var isLimited = false
        /// Nil if it doesn't exist.
        private let version: Int64?
        private(set) var positions: [Write: Int64] = [:]
        /// Newest first, with the positions of deletions, as far as they are after the base.
        private(set) var existences: [Existence<Int64>] = []
        /// The producers of the changes among them.
        private var producers: Set<ProducerID?> = []

        init(document: DocumentID, table: HubEntityTable, key: StorageValue, version: Int64?) {
            self.document = document
            self.table = table
            self.key = key
            self.version = version
            seeksDeletion = true
        }

        var isOpen: Bool { !writes.isEmpty || seeksDeletion || seeksChanges }

        /// - Complexity: O(*n*) in the number of the document's versions that must be searched.
        mutating func look(with reader: LogReader, _ steps: inout Int) throws {
            if let version, version <= base { (seeksDeletion, seeksChanges) = (false, false) }
            guard isOpen else { return }
            var row: Int64?
            var isWhole = true
            try reader.forEachVersionOutline(of: [key], in: table.entity) { outline, index in
                let operation = outline.shape(ofEvent: index).operation
                // Another segment must be read and decompressed; for a deletion once more, for the deleted row.
                let isCheap = row == outline.header.first && !(isLimited && operation == .delete)
                steps -= isCheap ? 1 : HubHistory.stepsOfRow
                row = outline.header.first
                guard steps >= 0 else {
                    isWhole = false
                    return false
                }
                let needsSource = !writes.isEmpty || seeksChanges
                look(
                    at: outline.header.first + Int64(index), operation,
                    needsSource ? HubWriteSource(outline.commit(ofEvent: index).metadata) : nil)
                return isOpen
            }
            if isWhole { (writes, seeksDeletion, seeksChanges) = ([], false, false) }
        }

        private mutating func look(at position: Int64, _ operation: StorageEvent.Operation, _ source: HubWriteSource?) {
            if let source {
                let write = Write(producer: source.producer, origin: source.origin)
                if writes.remove(write) != nil { positions[write] = position }
            }
            // For a document that doesn't exist, the last deletion counts even if it was known.
            if seeksDeletion, operation == .delete, position > base || version == nil {
                existences.append(Existence(deletion: position))
                seeksDeletion = isLimited
            } else if existences.isEmpty {
                existences.append(Existence())
            }
            if position <= base { (seeksDeletion, seeksChanges) = (false, false) }
            guard seeksChanges else { return }
            let last = existences.count - 1
            if existences[last].changes == nil {
                existences[last].changes = LastChanges(position: position, producer: source?.producer, before: nil)
            } else {
                existences[last].changes?.addEarlier(position, by: source?.producer)
            }
            producers.insert(source?.producer)
            if producers.count > 1, !isLimited { seeksChanges = false }
        }
    }

    /// The cost of reading a segment, in versions.
    private static let stepsOfRow = 50
}

extension StorageError {
    fileprivate static func longHistory() -> StorageError {
        StorageError(
            .limitExceeded, "The history of these documents is too long to search.",
            remedy: "Send fewer writes per batch.")
    }
}
