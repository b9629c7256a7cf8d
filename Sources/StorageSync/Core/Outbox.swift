/// The writes of a store that its remote hasn't confirmed, and the last of those that it has.
///
/// Always true:
/// 1. Writes stand by position, that is in the order in which they were made.
/// 2. A write is sent only if no earlier write of its document is parked. With 1, the writes of a document reach the remote in
///    the order in which they were made.
/// 3. Numbers of one session are consecutive, and a number stands for the writes of one origin from the time that it was saved
///    until its outcome is known.
/// 4. What is accepted or confirmed is part of the remote's history as of ``SyncRecord/lines``, at the position that it has.
/// 5. Writes of one origin are of one document, are sent as one, and have one outcome: their states change together.
///
/// **Merging.** Unsent writes of a document that would be sent one right after another are sent as one, if all but the first of them
/// are patches, the first is no deletion, and all were made on one state of the remote. The remote can't tell the difference
/// but by the states in between, which it doesn't go through:
/// - Nothing else of this store would be sent between them, and what others do between them could as well have come before. So the
///   remote comes to a state that it could have come to without merging, and all else finds what it would have found.
/// - A remote judges a write by its base, whether it is conditional, its producer, and the document that it leads to. All but the last
///   are the same for all of them. Of the documents, the last counts alone: if it is refused, so are all, and if it is taken, it makes up for one before it
///   that would have been refused.
/// - A patch on a save or a patch always finds its document, so as one they do what they would have done one after another. On a
///   deletion it wouldn't.
/// - Which writes have one origin is saved before they are sent, and never changes. So a remote that has applied an origin, on
///   whatever branch of its history, has applied these writes and no others: sending them again does nothing, and confirms them all.
package struct Outbox: Sendable, Equatable {
    /// Those that aren't confirmed.
    package private(set) var pending: ArraySlice<PendingWrite> = []
    /// Those that are, by position of the remote.
    package private(set) var confirmed: [PendingWrite] = []

    /// Of the latest write that it knows; those behind it are to be handed to it.
    package private(set) var lastPosition: Int64

    /// From this index on, all writes wait and none was ever sent: what changes with an answer stands before it.
    private var sentEnd = 0

    /// - Parameter rows: As they were saved, in any order.
    package init(rows: [PendingWrite] = []) {
        lastPosition = rows.map(\.position).max() ?? 0
        for row in rows.sorted(by: { $0.position < $1.position }) {
            if row.isConfirmed { confirmed.append(row) } else { pending.append(row) }
        }
        sortConfirmed()
        findSentEnd()
    }

    package var parked: [PendingWrite] { sent.filter(\.isParked) }

    /// How many the remote hasn't taken.
    package var untakenCount: Int { pending.count - sent.count { $0.remotePosition != nil } }

    /// Whether a write waits for nothing but to be sent.
    var hasSendable: Bool { !nextBatch(maximumWrites: 1, maximumBytes: 0).isEmpty }

    /// The writes that were sent whose outcome isn't known.
    var sending: [PendingWrite] { sent.filter { if case .sending = $0.state { true } else { false } } }

    private var sent: ArraySlice<PendingWrite> { pending[..<sentEnd] }

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

    /// The pending writes at some positions.
    /// - Complexity: O(log *n* + *m*) in the writes that are pending, and those that are found.
    package func pending(at positions: ClosedRange<Int64>) -> ArraySlice<PendingWrite> {
        let start = index(of: positions.lowerBound)
        return pending[start...].prefix { $0.position <= positions.upperBound }
    }

    /// Of the first write at a position or behind it.
    private func index(of position: Int64) -> Int {
        var (low, high) = (pending.startIndex, pending.endIndex)
        while low < high {
            let middle = (low + high) / 2
            if pending[middle].position < position { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

// MARK: Sending

extension Outbox {
    /// The next writes to send, by index; those together that are sent as one.
    /// - Complexity: O(*n*) in the writes that are pending before the batch's end.
    func nextBatch(maximumWrites: Int, maximumBytes: Int) -> [[Int]] {
        var batch: [[Int]] = []
        var bytes = 0
        var parked: Set<DocumentID> = []
        // Of writes that were sent before, until the last of their origin comes.
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
            // One that is larger than a batch goes by itself.
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

    /// Numbers the writes of a batch.
    /// - Returns: The rows, and the origin of each number.
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
        // A store that was put back may not know that it has sent them.
        if let last = positions.keys.max() { sentEnd = max(sentEnd, index(of: last + 1)) }
        return change { write in
            if let at = positions[write.remoteName] { return .confirmed(at: at) }
            guard case .accepted(let at) = write.state, at <= position else { return nil }
            return .confirmed(at: at)
        }
    }

    /// Confirms the writes that the remote has taken of some documents.
    mutating func confirmTaken(_ isMeant: (DocumentID) -> Bool) -> [PendingWrite] {
        change { write in
            guard case .accepted(let at) = write.state, isMeant(write.document) else { return nil }
            return .confirmed(at: at)
        }
    }

    /// Whether there are such.
    func hasTaken(where isMeant: (DocumentID) -> Bool) -> Bool {
        sent.contains { write in
            if case .accepted = write.state { isMeant(write.document) } else { false }
        }
    }

    /// Begins a session, after the outcomes that it has brought were taken over.
    ///
    /// - Parameters:
    ///   - lastNumber: Up to which writes that are still being sent had an outcome that nobody knows any more. Those behind it
    ///     have none, nor ever will, and wait again.
    ///   - sharedEnd: What was applied behind it is no part of the remote's history any more, and waits again. Nor was any write made on
    ///     what came behind it.
    /// - Returns: The rows that changed.
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
            // What it conflicts with may be gone; what is there now was pulled, or will be.
            if case .parked(.conflict(let at)) = pending[index].state, at > sharedEnd {
                pending[index].state = .parked(.conflict(at: sharedEnd))
            }
            pending[index].base = min(pending[index].base, sharedEnd)
        }
        findSentEnd()
        return pending.filter { before[$0.position] != $0 }
    }

    /// Gives pending writes another state, where there is one, and moves those that are confirmed.
    private mutating func change(_ state: (PendingWrite) -> PendingWrite.State?) -> [PendingWrite] {
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
    /// - Complexity: O(*n*) in the writes before ``sentEnd``, however many wait behind it.
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

    /// Forgets the writes that were confirmed first; all of one origin, or none.
    /// - Returns: Those.
    mutating func trim(toConfirmed limit: Int) -> [PendingWrite] {
        guard confirmed.count > limit else { return [] }
        let end = confirmed[confirmed.count - limit - 1].remotePosition ?? 0
        let removed = Array(confirmed.prefix { $0.remotePosition ?? 0 <= end })
        confirmed.removeFirst(removed.count)
        return removed
    }
}

// MARK: Conflicts

extension Outbox {
    /// Documents that were changed on both sides, and what becomes of their pending writes.
    struct Conflicts {
        var documents: [DocumentID] = []
        var writes: [PendingWrite] = []
    }

    /// Parks the conditional writes of documents that others have changed: the remote would refuse them.
    /// - Complexity: O(*n*) in the writes that are pending.
    mutating func parkConflicts(with changes: [RemoteChange]) -> [PendingWrite] {
        let foreign = Dictionary(
            changes.lazy.filter(\.isForeign).map { ($0.document, $0) }, uniquingKeysWith: { _, last in last })
        guard !foreign.isEmpty else { return [] }
        var parked: [PendingWrite] = []
        for index in pending.indices where pending[index].isConditional && pending[index].isUnsettled {
            guard let change = foreign[pending[index].document], change.position > pending[index].base else { continue }
            pending[index].state = .parked(change.operation == .delete ? .deleted : .conflict(at: change.position))
            parked.append(pending[index])
            sentEnd = max(sentEnd, index + 1)
        }
        return parked
    }

    /// Makes writes that were parked for a conflict wait again, as made on what was pulled, where the change that they conflict with
    /// is a part of that; so are all other writes of their documents that wait.
    mutating func rebaseConflicts(to position: Int64) -> Conflicts {
        var documents: Set<DocumentID> = []
        var conflicts = Conflicts()
        for write in sent {
            guard case .parked(.conflict(let at)) = write.state, at <= position else { continue }
            if documents.insert(write.document).inserted { conflicts.documents.append(write.document) }
        }
        guard !documents.isEmpty else { return conflicts }
        for index in pending.indices where documents.contains(pending[index].document) {
            guard pending[index].isUnsettled else { continue }
            if pending[index].isParked { pending[index].retries &+= 1 }
            pending[index].state = .waiting
            pending[index].base = max(pending[index].base, position)
            conflicts.writes.append(pending[index])
        }
        return conflicts
    }
}

// MARK: Parked writes

extension Outbox {
    /// Parks a write that waits, and those of its origin.
    mutating func park(_ position: Int64, _ rejection: WriteRejection) -> [PendingWrite] {
        let group = group(at: position) { $0.state == .waiting }
        for index in group { pending[index].state = .parked(rejection) }
        sentEnd = max(sentEnd, (group.last ?? sentEnd - 1) + 1)
        return group.map { pending[$0] }
    }

    /// Makes a parked write one that waits, and those of its origin.
    ///
    /// What was parked for something that somebody else has done is made on what was pulled from now on, and so is what waits behind it
    /// without a condition of its own.
    /// Where the document is gone, it is made again: changes are sent with all else that the document had here.
    /// - Returns: The rows; none where no write is parked there.
    mutating func retry(_ position: Int64, pulledUpTo end: Int64) -> [PendingWrite] {
        var changed = group(at: position, where: \.isParked)
        guard let first = changed.first, let last = changed.last,
            case .parked(let rejection) = pending[first].state
        else { return [] }
        for index in changed {
            pending[index].retries &+= 1
            pending[index].state = .waiting
        }
        switch rejection {
        case .unknown, .invalid: return changed.map { pending[$0] }
        case .conflict: break
        case .deleted, .missing: if pending[first].kind == .patch { pending[first].kind = .save }
        }
        let document = pending[first].document
        changed += (last + 1..<pending.endIndex).filter {
            pending[$0].document == document && pending[$0].state == .waiting && !pending[$0].isConditional
        }
        for index in changed { pending[index].base = max(pending[index].base, end) }
        return changed.map { pending[$0] }
    }

    /// - Returns: The writes that are given up: the one that is parked there, and those of its origin.
    mutating func discard(_ position: Int64) -> [PendingWrite] {
        let group = group(at: position, where: \.isParked).map { pending[$0] }
        let positions = Set(group.map(\.position))
        if !group.isEmpty { removeSent { positions.contains($0.position) } }
        return group
    }

    /// The indices of a write and of those with which it is sent as one; none where it isn't meant.
    private func group(at position: Int64, where isMeant: (PendingWrite) -> Bool) -> [Int] {
        let start = index(of: position)
        guard start < pending.endIndex, pending[start].position == position, isMeant(pending[start]) else { return [] }
        guard let origin = pending[start].origin else { return [start] }
        return (pending.startIndex..<sentEnd).filter { pending[$0].origin == origin }
    }
}

extension PendingWrite {
    var isParked: Bool { if case .parked = state { true } else { false } }
    var isConfirmed: Bool { if case .confirmed = state { true } else { false } }

    /// What a remote knows it by, or would if it was sent by itself.
    package var remoteName: Int64 { origin ?? position }

    /// Where the remote has applied it.
    var remotePosition: Int64? {
        switch state {
        case .accepted(let at), .confirmed(let at): at
        case .waiting, .sending, .parked: nil
        }
    }

    /// Whether it waits, or is parked for a conflict.
    fileprivate var isUnsettled: Bool {
        switch state {
        case .waiting, .parked(.conflict): true
        case .sending, .accepted, .confirmed, .parked: false
        }
    }

    /// Whether it can be sent as one with a later write of those that are to be sent, with none of those between them.
    fileprivate func merges(with later: PendingWrite) -> Bool {
        origin == nil && later.origin == nil && document == later.document && base == later.base
            && isConditional == later.isConditional && kind != .delete && later.kind == .patch
    }

    fileprivate var wasSent: Bool { state != .waiting || origin != nil }

    fileprivate func isApplied(behind position: Int64) -> Bool { remotePosition.map { $0 > position } ?? false }
}
