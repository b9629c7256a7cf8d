internal import StorageCore

/// A store's writes that its remote hasn't confirmed, and the most recent ones that it has.
///
/// Invariants:
/// 1. Writes are sorted by position, which is the order in which they were made.
/// 2. A write is sent only if no earlier write of its document is parked. With 1, the writes of a document reach the
///    remote in the order in which they were made.
/// 3. Numbers within a session are consecutive, and a number refers to the writes of one origin from the time it is
///    saved until its outcome is known.
/// 4. Accepted and confirmed writes belong to the remote's history as of ``SyncRecord/lines``, at the position recorded
///    with them.
/// 5. Writes of one origin have the same document, are sent as one, and have one outcome: their states change together.
///
/// **Merging.** Consecutive unsent writes of a document are sent as one if all but the first are patches, the first
/// isn't a deletion, and all were based on the same state of the remote. The remote can't tell the difference, except
/// that it skips the intermediate states:
/// - Nothing else from this store would be sent between them, and changes by others in between could just as well have
///   come before. So the remote reaches a state that it could have reached without merging, and every other write finds
///   what it would have found.
/// - A remote judges a write by its base, whether it is conditional, its producer, and the resulting document. All but
///   the last are the same for all merged writes. Of the documents only the last one matters: if it is rejected, all
///   are; if it is accepted, it makes up for an earlier one that would have been rejected.
/// - A patch on top of a save or a patch always finds its document, so a merged write has the same effect as the
///   sequence. On top of a deletion it wouldn't.
/// - Which writes share an origin is saved before they are sent, and doesn't change once a remote may have seen them. So
///   a remote that has applied an origin, on whatever branch of its history, has applied exactly these writes: sending
///   them again has no effect and confirms them all.
///
/// **Corrections.** A write that can't be sent, because its document can't be written as JSON, is sent as one with the
/// first later write of its document that can be, and with all in between. No remote has seen any of them, and the
/// operation of the last one includes their changes. Writes of other documents in between can't need them: they could
/// never have been sent before. Without such a write, only the first one of the document that can't be sent is parked.
package struct Outbox: Sendable, Equatable {
    /// The writes that aren't confirmed.
    package internal(set) var pending: ArraySlice<PendingWrite> = []
    /// The confirmed writes, by the remote's position.
    package private(set) var confirmed: [PendingWrite] = []

    /// The position of the latest known write; later ones have yet to be added.
    package private(set) var lastPosition: Int64

    /// From this index on, all writes are waiting and none was ever sent, so answers only affect writes before it.
    var sentEnd = 0

    /// - Parameter rows: The saved rows, in any order.
    package init(rows: [PendingWrite] = []) {
        lastPosition = rows.map(\.position).max() ?? 0
        for row in rows.sorted(by: { $0.position < $1.position }) {
            if row.isConfirmed { confirmed.append(row) } else { pending.append(row) }
        }
        sortConfirmed()
        findSentEnd()
    }

    package var parked: [PendingWrite] { sent.filter(\.isParked) }

    /// The number of writes that the remote hasn't accepted.
    package var unacceptedCount: Int { pending.count - sent.count { $0.remotePosition != nil } }

    /// Whether a write is ready to be sent.
    var hasSendable: Bool { !nextBatch(maximumWrites: 1, maximumBytes: 0).isEmpty }

    /// The writes that were sent and whose outcome isn't known.
    var sending: [PendingWrite] { sent.filter(\.isSending) }

    var sent: ArraySlice<PendingWrite> { pending[..<sentEnd] }

    private mutating func findSentEnd() {
        sentEnd = (pending.lastIndex { $0.wasSent } ?? pending.startIndex - 1) + 1
    }

    mutating func append(_ writes: [PendingWrite]) {
        let new = writes.filter { $0.position > lastPosition }
        pending += new
        lastPosition = max(lastPosition, pending.last?.position ?? 0)
        // Another process may have sent them.
        if new.contains(where: \.wasSent) { findSentEnd() }
    }

    /// The pending writes in a range of positions.
    ///
    /// - Complexity: O(log *n* + *m*), where *n* is the number of pending writes and *m* the number returned.
    package func pending(at positions: ClosedRange<Int64>) -> ArraySlice<PendingWrite> {
        let start = index(of: positions.lowerBound)
        return pending[start...].prefix { $0.position <= positions.upperBound }
    }

    /// The index of the first write at or after a position.
    func index(of position: Int64) -> Int { pending.partitioningIndex { $0.position >= position } }
}

// MARK: Sending

extension Outbox {
    /// The next writes to send, by index; each group is sent as one.
    ///
    /// - Complexity: O(*n*) in the number of pending writes before the end of the batch.
    func nextBatch(maximumWrites: Int, maximumBytes: Int) -> [[Int]] {
        var batch: [[Int]] = []
        var bytes = 0
        var parked: Set<DocumentID> = []
        // Writes that were sent before, collected until the last write of their origin appears.
        var parts: [Int64: [Int]] = [:]
        for index in pending.indices {
            let write = pending[index]
            if write.isParked { parked.insert(write.document) }
            guard write.state == .waiting, parked.isEmpty || !parked.contains(write.document) else { continue }
            var group = [index]
            if let origin = write.origin {
                parts[origin, default: []].append(index)
                guard write.position == origin else { continue }
                group = parts[origin] ?? group
            }
            let size = group.reduce(0) { $0 + pending[$1].size }
            // A write that is larger than a batch is sent by itself.
            guard batch.isEmpty || bytes + size <= maximumBytes else { break }
            if let last = batch.last?.last, pending[last].merges(with: write), bytes + size <= maximumBytes {
                batch[batch.count - 1] += group
            } else if batch.count < maximumWrites {
                batch.append(group)
            } else {
                break
            }
            bytes += size
        }
        return batch
    }

    /// Assigns numbers to the writes of a batch.
    ///
    /// - Returns: The changed rows, and the origin for each number.
    mutating func number(_ batch: [[Int]], from first: Int64) -> (rows: [PendingWrite], origins: [Int64]) {
        var rows: [PendingWrite] = []
        var origins: [Int64] = []
        for (number, group) in zip(first..., batch) {
            guard let last = group.last else { continue }
            let origin = pending[last].position
            for index in group {
                pending[index].state = .sending(number: number)
                pending[index].origin = origin
                rows.append(pending[index])
            }
            origins.append(origin)
            sentEnd = max(sentEnd, last + 1)
        }
        return (rows, origins)
    }
}

// MARK: Outcomes

extension Outbox {
    /// Applies the outcomes of writes that are being sent.
    ///
    /// - Parameter position: The position up to which the remote was pulled.
    /// - Returns: The changed rows.
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
    ///
    /// - Parameter position: The position up to which the remote was pulled. Accepted writes before it that aren't
    ///   among the changes aren't visible to this client.
    mutating func confirm(_ changes: [RemoteChange], pulledUpTo position: Int64) -> [PendingWrite] {
        let positions = Dictionary(
            changes.compactMap { change in change.ownOrigin.map { ($0, change.position) } },
            uniquingKeysWith: { first, _ in first })
        return change { write in
            if let at = positions[write.remoteName] { return .confirmed(at: at) }
            guard case .accepted(let at) = write.state, at <= position else { return nil }
            return .confirmed(at: at)
        }
    }

    /// Confirms the accepted writes of some documents.
    mutating func confirmAccepted(_ isIncluded: (DocumentID) -> Bool) -> [PendingWrite] {
        change { write in
            guard case .accepted(let at) = write.state, isIncluded(write.document) else { return nil }
            return .confirmed(at: at)
        }
    }

    /// Whether there are any such writes.
    func hasAccepted(where isIncluded: (DocumentID) -> Bool) -> Bool {
        sent.contains { write in
            if case .accepted = write.state { isIncluded(write.document) } else { false }
        }
    }

    /// Begins a session, after the outcomes it brought were applied.
    ///
    /// - Parameters:
    ///   - lastNumber: Writes in flight up to this number had an outcome that is lost. Those after it have none, nor
    ///     ever will, and wait again.
    ///   - sharedEnd: Everything that was applied after this position is no longer part of the remote's history and
    ///     waits again. No write was based on a later position.
    /// - Returns: The changed rows.
    mutating func restart(behind lastNumber: Int64, sharedEnd: Int64) -> [PendingWrite] {
        let before = Dictionary(uniqueKeysWithValues: pending.map { ($0.position, $0) })
        let lost = confirmed.filter { $0.isApplied(behind: sharedEnd) }
        if !lost.isEmpty {
            confirmed.removeAll { $0.isApplied(behind: sharedEnd) }
            pending = (pending + lost).sorted { $0.position < $1.position }[...]
        }
        for index in pending.indices {
            if pending[index].isApplied(behind: sharedEnd) { pending[index].state = .waiting }
            if case .sending(let number) = pending[index].state {
                pending[index].state = number > lastNumber ? .waiting : .parked(.unknown)
            }
            // What it conflicts with may be gone; the current state was pulled, or will be.
            if case .parked(.conflict(let at)) = pending[index].state, at > sharedEnd {
                pending[index].state = .parked(.conflict(at: sharedEnd))
            }
            pending[index].base = min(pending[index].base, sharedEnd)
        }
        findSentEnd()
        return pending.filter { before[$0.position] != $0 }
    }

    /// Changes the state of pending writes for which the closure returns one, and moves those that become confirmed.
    mutating func change(_ state: (PendingWrite) -> PendingWrite.State?) -> [PendingWrite] {
        var changed: [PendingWrite] = []
        var hasConfirmed = false
        for index in pending.startIndex..<sentEnd {
            guard let new = state(pending[index]) else { continue }
            pending[index].state = new
            changed.append(pending[index])
            if case .confirmed = new { hasConfirmed = true }
        }
        guard hasConfirmed else { return changed }
        confirmed += sent.filter(\.isConfirmed)
        sortConfirmed()
        removeSent(where: \.isConfirmed)
        return changed
    }

    /// Removes writes from those that were sent.
    ///
    /// - Complexity: O(*n*) in the number of writes before ``sentEnd``, however many wait after it.
    private mutating func removeSent(where isRemoved: (PendingWrite) -> Bool) {
        var target = sentEnd
        for index in (pending.startIndex..<sentEnd).reversed() where !isRemoved(pending[index]) {
            target -= 1
            pending.swapAt(target, index)
        }
        pending.removeFirst(target - pending.startIndex)
    }

    private mutating func sortConfirmed() {
        confirmed.sort { ($0.remotePosition ?? 0, $0.position) < ($1.remotePosition ?? 0, $1.position) }
    }

    /// Drops the oldest confirmed writes; all of an origin, or none.
    ///
    /// - Returns: The dropped writes.
    mutating func trim(toConfirmed limit: Int) -> [PendingWrite] {
        guard confirmed.count > limit else { return [] }
        let end = confirmed[confirmed.count - limit - 1].remotePosition ?? 0
        let removed = Array(confirmed.prefix { $0.remotePosition ?? 0 <= end })
        confirmed.removeFirst(removed.count)
        return removed
    }
}

// MARK: Parked writes

extension Outbox {
    /// Parks a waiting write, and those of its origin.
    mutating func park(_ position: Int64, _ rejection: WriteRejection) -> [PendingWrite] {
        let group = group(at: position) { $0.state == .waiting }
        for index in group { pending[index].state = .parked(rejection) }
        sentEnd = max(sentEnd, (group.last ?? sentEnd - 1) + 1)
        return group.map { pending[$0] }
    }

    /// Makes a write that can't be sent part of its correction, or parks it if there is none. Earlier writes of the
    /// same origin that can be sent become a write of their own: the remote hasn't seen that origin.
    ///
    /// Behind a parked write of its document, it waits anyway. Parked, it couldn't be sent as one with the earlier
    /// write once that is retried.
    mutating func correctOrPark(_ position: Int64, _ write: UnsendableWrite) -> [PendingWrite] {
        let sendable = write.sendableEnd.map { end in
            group(at: position) { $0.state == .waiting }.filter { pending[$0].position <= end }
        }
        for index in sendable ?? [] { pending[index].origin = write.sendableEnd }
        var changed = write.correction.map { merge(position, into: $0) } ?? []
        if changed.isEmpty, !isBehindParked(position) { changed = park(position, .invalid(write.reason)) }
        return (sendable ?? []).map { pending[$0] } + changed
    }

    /// Whether an earlier write of the same document is parked.
    private func isBehindParked(_ position: Int64) -> Bool {
        let index = index(of: position)
        guard index < pending.endIndex else { return false }
        let document = pending[index].document
        return pending[..<index].contains { $0.isParked && $0.document == document }
    }

    /// Gives a waiting write, and those of its document up to a later one, the origin of that one.
    ///
    /// They keep the earliest base. On a later one, the fields of an earlier write could be sent to a document that
    /// another writer has deleted and created again meanwhile, although alone the write would be rejected.
    ///
    /// - Returns: The changed rows; none if these writes can't be sent as one.
    private mutating func merge(_ position: Int64, into later: Int64) -> [PendingWrite] {
        let last = index(of: later)
        guard let first = group(at: position, where: { $0.state == .waiting }).first, last < pending.endIndex,
            pending[last].position == later
        else { return [] }
        let (document, origin) = (pending[first].document, pending[last].remoteName)
        let isConditional = pending[last].isConditional
        let group = pending[first...].prefix { $0.position <= origin }.indices.filter {
            pending[$0].document == document
        }
        guard group.contains(last),
            group.allSatisfy({ pending[$0].state == .waiting && pending[$0].isConditional == isConditional })
        else { return [] }
        let base = group.reduce(pending[last].base) { min($0, pending[$1].base) }
        for index in group { (pending[index].origin, pending[index].base) = (origin, base) }
        sentEnd = max(sentEnd, (group.last ?? last) + 1)
        return group.map { pending[$0] }
    }

    /// Makes a parked write, and those of its origin, wait again.
    ///
    /// A write that was parked because of someone else's change is rebased onto what was pulled, and so are the
    /// unconditional writes that wait behind it. If the document is gone, it is created again: patches are sent with
    /// all other fields that the document had here.
    ///
    /// While no page will contain the change that a write conflicts with, the write is rebased onto that.
    ///
    /// - Returns: The changed rows; none if no write is parked at the position.
    mutating func retry(
        _ position: Int64, pulledUpTo end: Int64, following followed: FollowedDocuments = FollowedDocuments()
    ) -> [PendingWrite] {
        var changed = group(at: position, where: \.isParked)
        guard let first = changed.first, let last = changed.last,
            case .parked(let rejection) = pending[first].state
        else { return [] }
        for index in changed {
            pending[index].retries &+= 1
            pending[index].state = .waiting
        }
        var end = end
        switch rejection {
        case .unknown, .invalid: return changed.map { pending[$0] }
        case .conflict(let at): if !followed.includes(pending[first].document) { end = max(end, at) }
        case .deleted, .missing: if pending[first].kind == .patch { pending[first].kind = .save }
        }
        let document = pending[first].document
        changed += (last + 1..<pending.endIndex).filter {
            pending[$0].document == document && pending[$0].state == .waiting && !pending[$0].isConditional
        }
        for index in changed { pending[index].base = max(pending[index].base, end) }
        return changed.map { pending[$0] }
    }

    /// - Returns: The discarded writes: the one that is parked at the position, and those of its origin.
    mutating func discard(_ position: Int64) -> [PendingWrite] {
        let group = group(at: position, where: \.isParked).map { pending[$0] }
        let positions = Set(group.map(\.position))
        if !group.isEmpty { removeSent { positions.contains($0.position) } }
        return group
    }

    /// The indices of a write and of those that are sent with it as one; empty if the closure rejects it.
    private func group(at position: Int64, where isIncluded: (PendingWrite) -> Bool) -> [Int] {
        let start = index(of: position)
        guard start < pending.endIndex, pending[start].position == position, isIncluded(pending[start]) else {
            return []
        }
        guard let origin = pending[start].origin else { return [start] }
        return (pending.startIndex..<sentEnd).filter { pending[$0].origin == origin }
    }
}

extension PendingWrite {
    var isParked: Bool { if case .parked = state { true } else { false } }
    var isSending: Bool { if case .sending = state { true } else { false } }
    var isConfirmed: Bool { if case .confirmed = state { true } else { false } }

    /// Whether the write is sent again after a rejection, and creates its document if that is gone.
    var createsAgain: Bool { kind == .save && retries > 0 && state == .waiting }

    /// The name by which the remote knows the write, or would know it if it was sent by itself.
    package var remoteName: Int64 { origin ?? position }

    /// The position at which the remote has applied the write.
    var remotePosition: Int64? {
        switch state {
        case .accepted(let at), .confirmed(let at): at
        case .waiting, .sending, .parked: nil
        }
    }

    /// Whether the write is waiting, or parked because of a conflict.
    var isUnsettled: Bool {
        switch state {
        case .waiting, .parked(.conflict): true
        case .sending, .accepted, .confirmed, .parked: false
        }
    }

    /// Whether this write can be merged with a later sendable write, if nothing sendable lies between them.
    fileprivate func merges(with later: PendingWrite) -> Bool {
        origin == nil && later.origin == nil && document == later.document && base == later.base
            && isConditional == later.isConditional && kind != .delete && later.kind == .patch
    }

    var wasSent: Bool { state != .waiting || origin != nil }

    fileprivate func isApplied(behind position: Int64) -> Bool { remotePosition.map { $0 > position } ?? false }
}
