/// The writes of a store that its remote hasn't confirmed, and the last of those that it has.
///
/// Always true:
/// 1. Writes stand by position, that is in the order in which they were made.
/// 2. A write is sent only if no earlier write of its document is parked. With 1, the writes of a document reach the remote in
///    the order in which they were made.
/// 3. Numbers of one session are consecutive, and a number stands for one write from the time that it was saved until its
///    outcome is known.
/// 4. What is accepted or confirmed is part of the remote's history as of ``SyncRecord/lines``, at the position that it has.
package struct Outbox: Sendable, Equatable {
    /// Those that aren't confirmed.
    package private(set) var pending: [PendingWrite] = []
    /// Those that are, by position of the remote.
    package private(set) var confirmed: [PendingWrite] = []

    /// Of the latest write that it knows; those behind it are to be handed to it.
    package private(set) var lastPosition: Int64

    /// - Parameter rows: As they were saved, in any order.
    package init(rows: [PendingWrite] = []) {
        lastPosition = rows.map(\.position).max() ?? 0
        for row in rows.sorted(by: { $0.position < $1.position }) {
            if row.isConfirmed { confirmed.append(row) } else { pending.append(row) }
        }
        sortConfirmed()
    }

    package var parked: [PendingWrite] { pending.filter(\.isParked) }

    /// Whether a write waits for nothing but to be sent.
    var hasSendable: Bool { !nextBatch(maximumWrites: 1, maximumBytes: 0).isEmpty }

    /// Whether a write was sent whose outcome isn't known.
    var isSending: Bool { pending.contains { if case .sending = $0.state { true } else { false } } }

    mutating func append(_ writes: [PendingWrite]) {
        pending += writes.filter { $0.position > lastPosition }
        lastPosition = max(lastPosition, pending.last?.position ?? 0)
    }

    /// The next writes to send, by index.
    /// - Complexity: O(*n*) in the writes that are pending before the batch's end.
    func nextBatch(maximumWrites: Int, maximumBytes: Int) -> [Int] {
        var batch: [Int] = []
        var bytes = 0
        var parked: Set<DocumentID> = []
        for (index, write) in pending.enumerated() {
            if write.isParked { parked.insert(write.document) }
            guard write.state == .waiting, !parked.contains(write.document) else { continue }
            // One that is larger than a batch goes by itself.
            guard batch.isEmpty || bytes + write.size <= maximumBytes else { break }
            batch.append(index)
            bytes += write.size
            if batch.count == maximumWrites { break }
        }
        return batch
    }

    /// Numbers the writes of a batch.
    mutating func number(_ batch: [Int], from first: Int64) -> [PendingWrite] {
        for (offset, index) in batch.enumerated() { pending[index].state = .sending(number: first + Int64(offset)) }
        return batch.map { pending[$0] }
    }

    /// Takes over the outcomes of writes that are being sent.
    /// - Parameter position: How far the remote was pulled.
    /// - Returns: The rows that changed.
    mutating func settle(_ results: [NumberedResult], pulledUpTo position: Int64) -> [PendingWrite] {
        guard !results.isEmpty else { return [] }
        let byNumber = Dictionary(results.map { ($0.number, $0.result) }, uniquingKeysWith: { first, _ in first })
        return change { write in
            guard case .sending(let number) = write.state, let result = byNumber[number] else { return nil }
            return switch result {
            case .applied(let at): at <= position ? .confirmed(at: at) : .accepted(at: at)
            case .rejected(let rejection): .parked(rejection)
            case .blocked: .waiting
            }
        }
    }

    /// Confirms the writes whose changes were pulled.
    /// - Parameter position: How far was pulled; accepted writes before it that aren't among the changes are none of what this
    ///   client sees.
    mutating func confirm(_ changes: [RemoteChange], pulledUpTo position: Int64) -> [PendingWrite] {
        let positions = Dictionary(
            changes.compactMap { change in change.ownOrigin.map { ($0, change.position) } },
            uniquingKeysWith: { first, _ in first })
        return change { write in
            if let at = positions[write.position] { return .confirmed(at: at) }
            guard case .accepted(let at) = write.state, at <= position else { return nil }
            return .confirmed(at: at)
        }
    }

    /// Begins a session, after the outcomes that it has brought were taken over.
    ///
    /// - Parameters:
    ///   - lastNumber: Up to which writes that are still being sent had an outcome that nobody knows any more. Those behind it
    ///     have none, nor ever will, and wait again.
    ///   - sharedEnd: What was applied behind it is no part of the remote's history any more, and waits again.
    /// - Returns: The rows that changed.
    mutating func restart(behind lastNumber: Int64, sharedEnd: Int64, pulledUpTo position: Int64) -> [PendingWrite] {
        let before = Dictionary(uniqueKeysWithValues: pending.map { ($0.position, $0) })
        let lost = confirmed.filter { $0.isApplied(behind: sharedEnd) }
        if !lost.isEmpty {
            confirmed.removeAll { $0.isApplied(behind: sharedEnd) }
            pending = (pending + lost).sorted { $0.position < $1.position }
        }
        for index in pending.indices {
            if pending[index].isApplied(behind: sharedEnd) { pending[index].state = .waiting }
            if case .sending(let number) = pending[index].state {
                pending[index].state = number > lastNumber ? .waiting : .parked(.unknown)
            }
            pending[index].base = min(pending[index].base, position)
        }
        return pending.filter { before[$0.position] != $0 }
    }

    /// Parks a write that waits.
    mutating func park(_ position: Int64, _ rejection: WriteRejection) -> PendingWrite? {
        guard let index = pending.firstIndex(where: { $0.position == position && $0.state == .waiting }) else {
            return nil
        }
        pending[index].state = .parked(rejection)
        return pending[index]
    }

    /// Forgets the writes that were confirmed first.
    /// - Returns: Those.
    mutating func trim(toConfirmed limit: Int) -> [PendingWrite] {
        guard confirmed.count > limit else { return [] }
        let removed = Array(confirmed.prefix(confirmed.count - limit))
        confirmed.removeFirst(removed.count)
        return removed
    }

    private mutating func sortConfirmed() {
        confirmed.sort { ($0.remotePosition ?? 0, $0.position) < ($1.remotePosition ?? 0, $1.position) }
    }

    /// Makes a parked write one that waits.
    /// - Returns: The row; nil where no write is parked there.
    mutating func retry(_ position: Int64) -> PendingWrite? {
        guard let index = pending.firstIndex(where: { $0.position == position && $0.isParked }) else { return nil }
        pending[index].state = .waiting
        return pending[index]
    }

    /// - Returns: Whether a write was parked there.
    mutating func discard(_ position: Int64) -> Bool {
        guard let index = pending.firstIndex(where: { $0.position == position && $0.isParked }) else { return false }
        pending.remove(at: index)
        return true
    }

    /// Gives pending writes another state, where there is one, and moves those that are confirmed.
    private mutating func change(_ state: (PendingWrite) -> PendingWrite.State?) -> [PendingWrite] {
        var changed: [PendingWrite] = []
        var hasConfirmed = false
        for index in pending.indices {
            guard let new = state(pending[index]) else { continue }
            pending[index].state = new
            changed.append(pending[index])
            if case .confirmed = new { hasConfirmed = true }
        }
        guard hasConfirmed else { return changed }
        confirmed += pending.filter(\.isConfirmed)
        sortConfirmed()
        pending.removeAll(where: \.isConfirmed)
        return changed
    }
}

extension PendingWrite {
    var isParked: Bool { if case .parked = state { true } else { false } }
    var isConfirmed: Bool { if case .confirmed = state { true } else { false } }

    /// Where the remote has applied it.
    var remotePosition: Int64? {
        switch state {
        case .accepted(let at), .confirmed(let at): at
        case .waiting, .sending, .parked: nil
        }
    }

    fileprivate func isApplied(behind position: Int64) -> Bool { remotePosition.map { $0 > position } ?? false }
}
