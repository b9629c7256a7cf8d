internal import Foundation
package import StorageCore

/// A hub in memory: one log that all clients write to and read, with the documents that it leads to.
///
/// Columns of one document that several clients write keep the value that comes last in the log. Deletes win: a write by somebody who
/// doesn't know of the deletion is rejected, one by somebody who does begins the document anew.
package struct MemoryHub: Sendable {
    package struct Event: Sendable, Equatable {
        package let producer: ProducerID
        package let number: Int64
        package let write: HubWrite
    }

    /// Each with the last position that it shares with the one before.
    private var lines: [(id: [UInt8], fork: Int64)]
    private(set) var producers: [ProducerID: HubProducer] = [:]
    private var deletions: [DocumentID: (position: Int64, producer: ProducerID)] = [:]
    /// The event at position *n* is at index *n* - 1.
    package private(set) var events: [Event] = []
    package private(set) var documents: [DocumentID: [String: StorageValue]] = [:]
    /// Why a document can't be as it would become; nil where it can.
    private let check: @Sendable (DocumentID, [String: StorageValue]) -> String?

    /// - Parameters:
    ///   - line: Names the history that begins here; random in earnest.
    ///   - check: Asked before each write.
    package init(
        line: [UInt8], check: @escaping @Sendable (DocumentID, [String: StorageValue]) -> String? = { _, _ in nil }
    ) {
        lines = [(line, 0)]
        self.check = check
    }

    package var head: Int64 { Int64(events.count) }
    package var line: [UInt8] { lines[lines.count - 1].id }

    /// To be called where a hub goes on from a copy of itself, before anything else.
    package mutating func beginLine(_ id: [UInt8]) { lines.append((id, head)) }

    package mutating func hello(
        from producer: ProducerID, epoch: Int64, line: [UInt8], position: Int64
    ) -> Result<SyncWelcome, SyncFailure> {
        guard producers[producer, default: HubProducer()].begin(epoch: epoch) else { return .failure(.sessionEnded) }
        let known = producers[producer, default: HubProducer()]
        return .success(
            SyncWelcome(
                line: self.line, shared: shared(with: line, at: position), lastNumber: known.lastNumber,
                results: known.results))
    }

    /// Up to where a history is part of this one.
    private func shared(with line: [UInt8], at position: Int64) -> Int64 {
        guard let index = lines.firstIndex(where: { $0.id == line }) else { return 0 }
        return lines[(index + 1)...].map(\.fork).reduce(min(position, head), min)
    }

    package mutating func push(
        _ writes: [HubWrite], from producer: ProducerID, epoch: Int64, line: [UInt8], firstNumber: Int64
    ) -> Result<[NumberedResult], SyncFailure> {
        guard line == self.line, let known = producers[producer] else { return .failure(.sessionEnded) }
        switch known.admits(epoch: epoch, firstNumber: firstNumber) {
        case .refused: return .failure(.sessionEnded)
        case .repeated(let results): return .success(results)
        case .new: break
        }
        var results: [NumberedResult] = []
        var rejected: Set<DocumentID> = []
        for (offset, write) in writes.enumerated() {
            let number = firstNumber + Int64(offset)
            let result = rejected.contains(write.document) ? .blocked : apply(write, number, from: producer)
            if case .rejected = result { rejected.insert(write.document) }
            results.append(NumberedResult(number: number, result: result))
        }
        producers[producer, default: HubProducer()].finish(results)
        return .success(results)
    }

    private mutating func apply(_ write: HubWrite, _ number: Int64, from producer: ProducerID) -> WriteResult {
        let columns: [String: StorageValue]
        switch write.operation {
        case .save(let saved):
            // The producer's own deletions come before its later writes, since its numbers are taken in order.
            if let deletion = deletions[write.document], deletion.position > write.base, deletion.producer != producer {
                return .rejected(.deleted)
            }
            columns = saved
        case .patch(let patch):
            guard let before = documents[write.document] else {
                return .rejected(deletions[write.document] == nil ? .missing : .deleted)
            }
            columns = before.merging(patch) { _, new in new }
        case .delete:
            events.append(Event(producer: producer, number: number, write: write))
            documents[write.document] = nil
            deletions[write.document] = (head, producer)
            return .applied(at: head)
        }
        if let reason = check(write.document, columns) { return .rejected(.invalid(reason)) }
        events.append(Event(producer: producer, number: number, write: write))
        documents[write.document] = columns
        deletions[write.document] = nil
        return .applied(at: head)
    }

    /// - Parameter limit: In events.
    package func pull(
        for producer: ProducerID, line: [UInt8], after position: Int64, limit: Int
    ) -> Result<SyncPage, SyncFailure> {
        guard line == self.line, (0...head).contains(position) else { return .failure(.sessionEnded) }
        let end = min(head, position + Int64(limit))
        return .success(
            SyncPage(
                start: position, end: end,
                changes: (position..<end).map { index in
                    let event = events[Int(index)]
                    return RemoteChange(
                        position: index + 1, document: event.write.document, operation: event.write.operation,
                        ownNumber: event.producer == producer ? event.number : nil)
                }))
    }
}
