import PredicateTestSupport
import Testing

@testable import StorageSync

/// Conditional writes, and what others have changed of their documents.
struct OutboxConflictTests {
    private func write(
        _ position: Int64, of id: String = "a", base: Int64 = 0, isConditional: Bool = true
    ) -> PendingWrite {
        var write = PendingWrite(
            position: position, document: DocumentID(entity: "notes", id: id), kind: .patch, size: 10, base: base)
        write.isConditional = isConditional
        return write
    }

    private func change(
        _ position: Int64, of id: String = "a", _ operation: WriteOperation = .patch([:]), own: Int64? = nil,
        isEcho: Bool = false
    ) -> RemoteChange {
        RemoteChange(
            position: position, document: DocumentID(entity: "notes", id: id), operation: operation, ownOrigin: own,
            isEcho: isEcho)
    }

    private func states(_ outbox: Outbox) -> [PendingWrite.State] { outbox.pending.map(\.state) }

    @Test("A foreign change parks a write that doesn't know of it")
    func foreignChangeParksWrite() {
        var outbox = Outbox(rows: [write(1), write(2, base: 5), write(3, of: "b"), write(4, isConditional: false)])
        #expect(outbox.parkConflicts(with: [change(5)]).map(\.position) == [1])
        #expect(states(outbox) == [.parked(.conflict(at: 5)), .waiting, .waiting, .waiting])
        #expect(outbox.parkConflicts(with: [change(6, of: "b", .delete)]).map(\.state) == [.parked(.deleted)])
    }

    @Test("Own changes and echoes don't conflict")
    func ownChangesDontConflict() {
        var outbox = Outbox(rows: [write(1)])
        #expect(outbox.parkConflicts(with: [change(5, own: 7), change(6, isEcho: true)]).isEmpty)
    }

    @Test("A retried write is based on what was pulled")
    func retryUsesPulledBase() {
        var outbox = Outbox(rows: [write(1)])
        _ = outbox.parkConflicts(with: [change(5)])
        #expect(outbox.retry(1, pulledUpTo: 6).map(\.base) == [6])
        #expect(outbox.parkConflicts(with: [change(6)]).isEmpty)
        #expect(outbox.parkConflicts(with: [change(7)]).count == 1)
        // What waits behind it was made on it, unless it has said what it expects.
        outbox = Outbox(rows: [write(1), write(2, isConditional: false), write(3), write(4, of: "b")])
        _ = outbox.park(1, .conflict(at: 5))
        #expect(outbox.retry(1, pulledUpTo: 6).map(\.base) == [6, 6])
        // Others are sent again as they were.
        var other = write(1)
        other.state = .parked(.unknown)
        outbox = Outbox(rows: [other])
        #expect(outbox.retry(1, pulledUpTo: 6).map(\.base) == [0])
    }

    @Test("While nothing is pulled, a retried write is based on what it conflicts with")
    func retryUsesConflict() {
        var outbox = Outbox(rows: [write(1)])
        _ = outbox.park(1, .conflict(at: 5))
        #expect(outbox.retry(1, pulledUpTo: 0).map(\.base) == [0], "a page will contain it")
        _ = outbox.park(1, .conflict(at: 5))
        let followed = FollowedDocuments(isListening: false)
        #expect(outbox.retry(1, pulledUpTo: 0, following: followed).map(\.base) == [5])
    }

    @Test("A retried write creates a deleted document again", arguments: [WriteRejection.deleted, .missing])
    func retryRecreatesDocument(why: WriteRejection) {
        var outbox = Outbox(rows: [write(1), write(2, isConditional: false)])
        _ = outbox.park(1, why)
        let rows = outbox.retry(1, pulledUpTo: 6)
        #expect(rows.map(\.base) == [6, 6])
        #expect(rows.map(\.kind) == [.save, .patch])
        #expect(outbox.retry(1, pulledUpTo: 7).isEmpty, "it isn't parked any more")
    }

    /// The remote may refuse a write before the reason for it is pulled, or behind that.
    @Test("A conflict is merged once its reason was pulled")
    func conflictIsMergedAfterPull() {
        var outbox = Outbox(rows: [write(1), write(2, of: "b"), write(3)])
        let batch = outbox.nextBatch(maximumWrites: 1, maximumBytes: 10)
        _ = outbox.number(batch, from: 1)
        let refused = [NumberedResult(number: 1, result: .rejected(.conflict(at: 5)))]
        _ = outbox.settle(refused, pulledUpTo: 4)
        #expect(outbox.rebaseConflicts(to: 4).documents.isEmpty)
        let conflicts = outbox.rebaseConflicts(to: 5)
        #expect(conflicts.documents.map(\.id) == ["a"])
        #expect(conflicts.writes.map(\.position) == [1, 3])
        #expect(states(outbox).allSatisfy { $0 == .waiting })
        #expect(outbox.pending.map(\.base) == [5, 0, 5])
    }

    @Test("A deletion isn't merged")
    func deletionIsNotMerged() {
        var outbox = Outbox(rows: [write(1)])
        _ = outbox.parkConflicts(with: [change(5), change(6, .delete)])
        #expect(outbox.rebaseConflicts(to: 6).documents.isEmpty)
        #expect(states(outbox) == [.parked(.deleted)])
        // Nor is one that comes after a conflict.
        outbox = Outbox(rows: [write(1)])
        _ = outbox.parkConflicts(with: [change(5)])
        _ = outbox.parkConflicts(with: [change(6, .delete)])
        #expect(states(outbox) == [.parked(.deleted)])
    }

    @Test("A core that merges says which documents")
    func coreNamesMergedDocuments() throws {
        for merges in [true, false] {
            var configuration = SyncCore.Configuration()
            configuration.mergesConflicts = merges
            var random = PredicateGenerator(seed: 1)
            var core = SyncCore(record: SyncRecord(), outbox: Outbox(), configuration: configuration)
            func requests(_ effects: [SyncEffect]) -> [SyncRequest] {
                effects.compactMap { if case .send(let request) = $0 { request } else { nil } }
            }
            let hello = requests(core.step(.connected, at: 0, using: &random))
            let welcome = SyncWelcome(lines: [RemoteLine(id: [1], fork: 0)], head: 0, lastNumber: 0, results: [])
            let pull = requests(core.step(.answer(.welcome(welcome), to: hello[0].id), at: 0, using: &random))
            let push = requests(core.step(.wrote([write(1)]), at: 0, using: &random))
            let results = [NumberedResult(number: 1, result: .rejected(.conflict(at: 1)))]
            _ = core.step(.answer(.pushed(results), to: push[0].id), at: 0, using: &random)
            #expect(core.outbox.parked.count == 1)
            let page = SyncPage(start: 0, end: 1, changes: [change(1)])
            let effects = core.step(.answer(.page(page), to: pull[0].id), at: 0, using: &random)
            guard case .save(let transaction) = effects.first else {
                Issue.record("nothing was saved")
                return
            }
            #expect(transaction.conflicts.map(\.id) == (merges ? ["a"] : []))
            #expect(transaction.writes.first?.state == (merges ? .waiting : .parked(.conflict(at: 1))) || !merges)
            #expect(core.outbox.parked.count == (merges ? 0 : 1))
        }
    }
}
