/// The writes of a store that its remote hasn't confirmed, and the last of those that it has.
///
/// Always true:
/// 1. Writes stand by position, that is in the order in which they were made.
/// 2. A write is sent only if no earlier write of its document is parked. With 1, the writes of a document reach the remote in the
///    order in which they were made.
/// 3. Numbers of one session are consecutive, and a number stands for one write from the time that it was saved until its outcome
///    is known.
package struct Outbox: Sendable, Equatable {
    /// Those that aren't confirmed.
    package private(set) var pending: [PendingWrite] = []
    /// Those that are, the latest last.
    package private(set) var confirmed: [PendingWrite] = []

    /// Of the latest write that it knows; those behind it are to be handed to it.
    package private(set) var lastPosition: Int64

    /// - Parameter rows: As they were saved, in any order.
    package init(rows: [PendingWrite] = []) {
        lastPosition = rows.map(\.position).max() ?? 0
        for row in rows.sorted(by: { $0.position < $1.position }) {
            if case .confirmed = row.state { confirmed.append(row) } else { pending.append(row) }
        }
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
            case .applied(let at): at <= position ? .confirmed(number: number) : .accepted(number: number, at: at)
            case .rejected(let rejection): .parked(rejection)
            case .blocked: .waiting
            }
        }
    }

    /// Confirms the writes whose changes were pulled.
    /// - Parameters:
    ///   - numbers: Those among the changes.
    ///   - position: How far was pulled; accepted writes before it that aren't among the changes are none of what this client sees.
    mutating func confirm(_ numbers: Set<Int64>, pulledUpTo position: Int64) -> [PendingWrite] {
        change { write in
            switch write.state {
            case .sending(let number) where numbers.contains(number): .confirmed(number: number)
            case .accepted(let number, let at) where at <= position: .confirmed(number: number)
            case .sending, .accepted, .waiting, .parked, .confirmed: nil
            }
        }
    }

    /// Begins a session: no outcome behind the last number exists, nor ever will. Outcomes up to it were settled before.
    /// - Parameter position: What was pulled behind it is no part of the remote's history any more.
    mutating func restart(behind lastNumber: Int64, rewindingTo position: Int64?) -> [PendingWrite] {
        var changed: [Int64: PendingWrite] = [:]
        let lost = confirmed.filter { ($0.number ?? 0) > lastNumber }
        if !lost.isEmpty {
            confirmed.removeAll { ($0.number ?? 0) > lastNumber }
            pending = (pending + lost).sorted { $0.position < $1.position }
        }
        for index in pending.indices {
            let before = pending[index]
            if let number = before.number, number > lastNumber {
                pending[index].state = .waiting
            } else if case .sending = before.state {
                pending[index].state = .parked(.unknown)
            }
            if let position { pending[index].base = min(before.base, position) }
            if pending[index] != before { changed[before.position] = pending[index] }
        }
        return changed.values.sorted { $0.position < $1.position }
    }

    /// Forgets the oldest confirmed writes.
    /// - Returns: Their positions.
    mutating func trim(toConfirmed limit: Int) -> [Int64] {
        guard confirmed.count > limit else { return [] }
        let removed = confirmed.prefix(confirmed.count - limit).map(\.position)
        confirmed.removeFirst(removed.count)
        return removed
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
        pending.removeAll(where: \.isConfirmed)
        return changed
    }
}

extension PendingWrite {
    var isParked: Bool { if case .parked = state { true } else { false } }
    var isConfirmed: Bool { if case .confirmed = state { true } else { false } }
}
