internal import Foundation
package import StorageCore

/// A hub in memory: one log that all clients write to and read, with the resulting documents.
///
/// If several clients write a column of a document, the last value in the log wins. Deletes win: a write by a client that doesn't know of the
/// deletion is rejected; others may create the document again.
package struct MemoryHub: Sendable {
    package struct Event: Sendable, Equatable {
        package let producer: ProducerID
        package let number: Int64
        package let write: HubWrite
    }

    package private(set) var lines: [RemoteLine]
    private(set) var producers: [ProducerID: WriteDeduplication] = [:]
    private var deletions: [DocumentID: (position: Int64, producer: ProducerID)] = [:]
    private var lastChanges: [DocumentID: LastChanges] = [:]
    /// The event at position *n* is at index *n* - 1.
    package private(set) var events: [Event] = []
    package private(set) var documents: [DocumentID: [String: StorageValue]] = [:]
    /// Why a document can't be stored in a new state; nil if it can.
    private let check: @Sendable (DocumentID, [String: StorageValue]) -> String?

    /// - Parameters:
    ///   - line: Identifies the history that begins here; use random bytes outside of tests.
    ///   - check: Called before each write except deletions.
    package init(
        line: [UInt8], check: @escaping @Sendable (DocumentID, [String: StorageValue]) -> String? = { _, _ in nil }
    ) {
        lines = [RemoteLine(id: line, fork: 0)]
        self.check = check
    }

    package var head: Int64 { Int64(events.count) }
    package var line: [UInt8] { lines[lines.count - 1].id }

    /// Call it on a restored copy of a hub, before anything else.
    package mutating func beginLine(_ id: [UInt8]) { lines.append(RemoteLine(id: id, fork: head)) }

    package mutating func hello(
        from producer: ProducerID, epoch: Int64
    ) -> Result<SyncWelcome, SyncFailure> {
        let isLatest = producers[producer, default: WriteDeduplication()].begin(epoch: epoch)
        let known = producers[producer, default: WriteDeduplication()]
        guard isLatest else { return .failure(.sessionEnded(epoch: known.epoch)) }
        return .success(
            SyncWelcome(
                lines: lines, head: head, lastNumber: known.lastNumber, results: known.results,
                lastSession: known.lastSession))
    }

    package mutating func push(_ batch: HubBatch) -> Result<[NumberedResult], SyncFailure> {
        let producer = batch.producer
        guard batch.line == line, let known = producers[producer] else { return .failure(.sessionEnded(epoch: nil)) }
        if let refusal = batch.refusal { return .failure(refusal) }
        switch known.admits(batch) {
        case .refused: return .failure(.sessionEnded(epoch: known.epoch))
        case .reused: return .failure(.numberReused)
        case .repeated(let results): return .success(results)
        case .new: break
        }
        var results: [NumberedResult] = []
        var rejected: Set<DocumentID> = []
        for (number, write) in zip(batch.firstNumber..., batch.writes) {
            let result = rejected.contains(write.document) ? .blocked : apply(write, number, from: producer)
            if case .rejected = result { rejected.insert(write.document) }
            results.append(NumberedResult(number: number, result: result))
        }
        producers[producer, default: WriteDeduplication()].finish(batch, results)
        return .success(results)
    }

    private mutating func apply(_ write: HubWrite, _ number: Int64, from producer: ProducerID) -> WriteResult {
        if let position = position(of: write.origin, by: producer) { return .applied(at: position) }
        // The producer's own deletions come before its later writes, since its numbers are processed in order.
        if write.operation != .delete, let deletion = deletions[write.document], deletion.position > write.base,
            deletion.producer != producer
        {
            return .rejected(.deleted)
        }
        if write.isConditional, let position = lastChanges[write.document]?.position(byOthersThan: producer),
            position > write.base
        {
            return .rejected(.conflict(at: position))
        }
        let columns: [String: StorageValue]
        switch write.operation {
        case .save(let saved): columns = saved
        case .patch(let patch):
            guard let before = documents[write.document] else {
                return .rejected(deletions[write.document] == nil ? .missing : .deleted)
            }
            columns = before.merging(patch) { _, new in new }
        case .delete:
            append(write, number, from: producer)
            documents[write.document] = nil
            deletions[write.document] = (head, producer)
            return .applied(at: head)
        }
        if let reason = check(write.document, columns) { return .rejected(.invalid(reason)) }
        append(write, number, from: producer)
        documents[write.document] = columns
        return .applied(at: head)
    }

    private mutating func append(_ write: HubWrite, _ number: Int64, from producer: ProducerID) {
        events.append(Event(producer: producer, number: number, write: write))
        lastChanges[write.document] = LastChanges(
            position: head, producer: producer, before: lastChanges[write.document])
        producers[producer, default: WriteDeduplication()].applied(origin: write.origin)
    }

    /// The position at which a write was applied before: by a hub that this one was restored from, while the producer
    /// followed another.
    ///
    /// - Complexity: O(1) for writes after all others that the producer has had applied, otherwise O(*n*) in the number
    ///   of events.
    private func position(of origin: Int64, by producer: ProducerID) -> Int64? {
        guard let known = producers[producer], origin <= known.lastOrigin else { return nil }
        return events.firstIndex { $0.write.origin == origin && $0.producer == producer }.map { Int64($0) + 1 }
    }

    /// - Parameter limit: The maximum number of events.
    package func pull(
        for producer: ProducerID, line: [UInt8], after position: Int64, limit: Int
    ) -> Result<SyncPage, SyncFailure> {
        guard line == self.line, (0...head).contains(position) else { return .failure(.sessionEnded(epoch: nil)) }
        let end = min(head, position + Int64(limit))
        return .success(
            SyncPage(
                start: position, end: end,
                changes: (position..<end).map { index in
                    let event = events[Int(index)]
                    return RemoteChange(
                        position: index + 1, document: event.write.document, operation: event.write.operation,
                        ownOrigin: event.producer == producer ? event.write.origin : nil)
                }))
    }
}
