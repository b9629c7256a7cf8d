internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// What a transaction has to know of the past of the documents that it writes.
///
/// It is looked up before anything is written, because the events of a transaction aren't in the log before its end. The outlines of
/// the log serve for that: a batch writes to many documents, and their values are of no use but where one was deleted. Deletions by the
/// transaction's own writes are noted as they are made; those by triggers and cascades are known to the next transaction.
///
/// Not `Sendable`: it lives as long as the transaction.
final class HubHistory {
    struct Deletion {
        let position: Int64
        /// Nil where the hub's own program has deleted it.
        let producer: ProducerID?
        /// What was deleted.
        let row: HubTable.Row
        let table: HubTable
    }

    private struct Write: Hashable {
        let producer: ProducerID
        let origin: Int64
    }

    /// A document from where it was made to where it was deleted. What is made under the same id later is another one: a client may see
    /// one of them and not the other.
    private struct Existence<Deletion> {
        /// Where conditional writes concern it, or the transaction has changed it.
        var changes: LastChanges?
        /// Nil for the document that is there.
        var deletion: Deletion?
    }

    private var positions: [Write: Int64] = [:]
    /// The last one first.
    private var existences: [DocumentID: [Existence<Deletion>]] = [:]
    /// What would have taken too long to find out.
    private var unknownWrites: Set<Write> = []
    private var unknownDocuments: Set<DocumentID> = []

    /// - Parameter steps: How many versions of documents are looked at, those that lie together. Each document is gone through once,
    ///   last version first, whatever is asked of it.
    /// - Throws: `limit-exceeded` where that isn't enough for several writes: each by itself may have as many. Of one by itself it isn't
    ///   known then what was asked.
    init(
        of batches: [(batch: HubBatch, access: HubAccess)], _ writer: LogWriter, _ db: Database, steps: Int
    ) throws {
        let questions = try Self.questions(of: batches, writer, db)
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

    /// What is asked of each document, in the order of the writes.
    private static func questions(
        of batches: [(batch: HubBatch, access: HubAccess)], _ writer: LogWriter, _ db: Database
    ) throws -> [Question] {
        var questions: [Question] = []
        var questionIndices: [DocumentID: Int] = [:]
        var pushing: Set<ProducerID> = []
        for (batch, access) in batches {
            guard let producer = try HubProducers.load(batch.producer, in: db) else { continue }
            // One that is refused, or has its answer already, asks for nothing. A later one may be new by its turn.
            guard
                pushing.contains(batch.producer)
                    || producer.admits(epoch: batch.epoch, firstNumber: batch.firstNumber) == .new
            else { continue }
            pushing.insert(batch.producer)
            for write in batch.writes {
                guard let entity = writer.catalog.entity(named: write.document.entity),
                    let table = HubTable(entity), let key = table.key(of: write.document.id)
                else { continue }
                let questionIndex = questionIndices[write.document] ?? questions.count
                if questionIndex == questions.count {
                    questionIndices[write.document] = questionIndex
                    questions.append(
                        Question(
                            document: write.document, table: table, key: key,
                            version: try table.row(key, in: writer.database)?.position))
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

    /// Where a write was applied before: by a hub that this one was restored from, while the producer followed another, or by this
    /// transaction. One that changed nothing isn't found.
    func position(of origin: Int64, by producer: ProducerID) -> Int64? {
        positions[Write(producer: producer, origin: origin)]
    }

    /// Whether a write may have been applied before, and would have to be looked for for too long.
    func isUnknown(_ origin: Int64, by producer: ProducerID) -> Bool {
        unknownWrites.contains(Write(producer: producer, origin: origin))
    }

    /// Whether it would take too long to find out what has happened to a document.
    func isUnknown(_ document: DocumentID) -> Bool { unknownDocuments.contains(document) }

    /// The last deletion of a document that isn't there, or was made again; of one that was made again before all writes were made, none.
    ///
    /// - Parameter scope: Which could see what was deleted; nil for any.
    func deletion(of document: DocumentID, in scope: HubScope? = nil) -> Deletion? {
        existences[document]?.lazy.compactMap(\.deletion).first { scope?.sees($0.row, in: $0.table) ?? true }
    }

    /// The last change of a document by anybody but a producer; 0 where there is none. What was deleted counts where it could be seen then.
    ///
    /// - Parameter isVisible: Whether there is a document, and it can be seen.
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

    /// - Parameter isNew: Whether the change has made the document.
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
        at position: Int64, in table: HubTable, _ reader: LogReader, _ catalog: Catalog
    ) throws -> Deletion? {
        guard let batch = try reader.batch(containing: position) else { return nil }
        let event = batch.event(at: Int(position - batch.header.first), catalog: catalog)
        return Deletion(
            position: position, producer: HubSource(event.commit.metadata)?.producer, row: table.row(before: event),
            table: table)
    }
}

// MARK: One document

extension HubHistory {
    /// What is asked of a document's past, and what was found.
    private struct Question {
        let document: DocumentID
        let table: HubTable
        let key: StorageValue
        /// The least base of its writes: what has happened up to it was known.
        var base = Int64.max
        /// Those that may have been applied before, and weren't found yet.
        var writes: Set<Write> = []
        var seeksDeletion: Bool
        var seeksChanges = false
        /// Whether somebody who asks doesn't see all documents: then the last deletion and the last changes may be none for it, and what was
        /// before them counts.
        var isLimited = false
        /// Nil where it isn't there.
        private let version: Int64?
        private(set) var positions: [Write: Int64] = [:]
        /// The last one first, with the positions of deletions: as far as they lie behind the base.
        private(set) var existences: [Existence<Int64>] = []
        /// Who has made the changes among them.
        private var producers: Set<ProducerID?> = []

        init(document: DocumentID, table: HubTable, key: StorageValue, version: Int64?) {
            self.document = document
            self.table = table
            self.key = key
            self.version = version
            seeksDeletion = true
        }

        var isOpen: Bool { !writes.isEmpty || seeksDeletion || seeksChanges }

        /// - Complexity: O(*n*) in the versions of the document, as far as they have to be looked at.
        mutating func look(with reader: LogReader, _ steps: inout Int) throws {
            if let version, version <= base { (seeksDeletion, seeksChanges) = (false, false) }
            guard isOpen else { return }
            var row: Int64?
            var isWhole = true
            try reader.forEachVersionOutline(of: [key], in: table.entity) { outline, index in
                let operation = outline.shape(ofEvent: index).operation
                // Another row of the log has to be read and unpacked; that of a deletion again, for what was deleted.
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
                    needsSource ? HubSource(outline.commit(ofEvent: index).metadata) : nil)
                return isOpen
            }
            if isWhole { (writes, seeksDeletion, seeksChanges) = ([], false, false) }
        }

        private mutating func look(at position: Int64, _ operation: StorageEvent.Operation, _ source: HubSource?) {
            if let source {
                let write = Write(producer: source.producer, origin: source.origin)
                if writes.remove(write) != nil { positions[write] = position }
            }
            // Of a document that isn't there the last deletion counts, also where it was known.
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

    /// What reading a row of the log counts as, in versions.
    private static let stepsOfRow = 50
}

extension StorageError {
    fileprivate static func longHistory() -> StorageError {
        StorageError(
            .limitExceeded, "The history of these documents is too long to search.",
            remedy: "Send fewer writes per batch.")
    }
}
