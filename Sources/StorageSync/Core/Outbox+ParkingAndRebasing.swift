internal import StorageCore

/// Parks or rebases writes of documents that another writer has changed meanwhile.
extension Outbox {
    /// Documents that both sides have changed, and what happens to their pending writes.
    struct Conflicts {
        var documents: [DocumentID] = []
        var writes: [PendingWrite] = []
    }

    /// Parks the conditional writes of documents that others have changed: the remote would reject them.
    ///
    /// - Complexity: O(*n*) in the number of pending writes.
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

    /// Rebases writes that were parked because of a conflict, if the pulled changes include the one they conflict with,
    /// together with all other waiting writes of their documents.
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
