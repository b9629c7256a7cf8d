import Testing

@testable import StorageSync

/// Which writes are sent as one, and that they stay one.
struct OutboxMergingTests {
    private func write(
        _ position: Int64, _ kind: PendingWrite.Kind = .patch, of id: String = "a", base: Int64 = 0
    ) -> PendingWrite {
        PendingWrite(
            position: position, document: DocumentID(entity: "notes", id: id), kind: kind, size: 10, base: base)
    }

    private func positions(_ outbox: Outbox, writes: Int = 100, bytes: Int = 1_000) -> [[Int64]] {
        outbox.nextBatch(maximumWrites: writes, maximumBytes: bytes).map { $0.map { outbox.pending[$0].position } }
    }

    /// Sends everything, and answers.
    private func sent(_ outbox: Outbox, _ result: WriteResult) -> Outbox {
        var outbox = outbox
        let batch = outbox.nextBatch(maximumWrites: 100, maximumBytes: 1_000)
        _ = outbox.number(batch, from: 1)
        _ = outbox.settle(
            batch.indices.map { NumberedResult(number: Int64($0) + 1, result: result) }, pulledUpTo: 0)
        return outbox
    }

    @Test("Neighbouring patches are sent as one")
    func neighboursAreMerged() {
        #expect(positions(Outbox(rows: [write(1, .save), write(2), write(3)])) == [[1, 2, 3]])
        #expect(
            positions(Outbox(rows: [write(1), write(2), write(3, of: "b"), write(4, of: "b")])) == [[1, 2], [3, 4]])
    }

    @Test("What the remote could tell apart is sent separately")
    func separateWrites() {
        #expect(positions(Outbox(rows: [write(1), write(2, .delete), write(3)])) == [[1], [2], [3]], "a deletion")
        #expect(positions(Outbox(rows: [write(1), write(2, .save)])) == [[1], [2]], "a save")
        #expect(
            positions(Outbox(rows: [write(1), write(2, of: "b"), write(3)])) == [[1], [2], [3]], "another document")
        #expect(positions(Outbox(rows: [write(1), write(2, base: 5)])) == [[1], [2]], "another state of the remote")
    }

    @Test("What was sent stays as it was")
    func sentWriteIsNotMerged() {
        var outbox = sent(Outbox(rows: [write(1), write(2)]), .blocked)
        outbox.append([write(3), write(4)])
        #expect(positions(outbox) == [[1, 2], [3, 4]])
        // After a crash it is the same.
        #expect(positions(Outbox(rows: Array(outbox.pending))) == [[1, 2], [3, 4]])
        // What wasn't under way comes between them: they are sent as one all the same.
        var parked = write(2, of: "b")
        parked.state = .parked(.missing)
        outbox = sent(Outbox(rows: [write(1), parked, write(3)]), .blocked)
        _ = outbox.retry(2, pulledUpTo: 0)
        #expect(positions(outbox) == [[2], [1, 3]])
        #expect(positions(outbox, writes: 1) == [[2]])
    }

    @Test("The end of a batch ends merging")
    func batchEndsMerging() {
        let outbox = Outbox(rows: (1...5).map { write($0) })
        #expect(positions(outbox, bytes: 20) == [[1, 2]])
        #expect(positions(outbox, bytes: 5) == [[1]])
        let others = Outbox(rows: [write(1), write(2, of: "b"), write(3, of: "b"), write(4, of: "c")])
        #expect(positions(others, writes: 2) == [[1], [2, 3]])
    }

    @Test("Merged writes are parked together")
    func parkedTogether() {
        var outbox = sent(Outbox(rows: [write(1), write(2), write(3, of: "b")]), .rejected(.missing))
        #expect(outbox.parked.map(\.position) == [1, 2, 3])
        #expect(outbox.retry(1, pulledUpTo: 0).map(\.position) == [1, 2])
        #expect(outbox.parked.map(\.position) == [3])
        #expect(positions(outbox) == [[1, 2]])
        outbox = sent(Outbox(rows: [write(1), write(2)]), .rejected(.missing))
        outbox.append([write(3)])
        #expect(outbox.discard(2).map(\.position) == [1, 2])
        #expect(outbox.pending.map(\.position) == [3])
        #expect(positions(outbox) == [[3]])
    }

    @Test("Merged writes are confirmed together")
    func confirmedTogether() {
        var outbox = sent(Outbox(rows: [write(1), write(2), write(3, of: "b")]), .applied(at: 7))
        #expect(outbox.unacceptedCount == 0)
        #expect(outbox.pending.count == 3)
        let change = RemoteChange(
            position: 7, document: DocumentID(entity: "notes", id: "a"), operation: .patch([:]), ownOrigin: 2)
        #expect(outbox.confirm([change], pulledUpTo: 6).map(\.position) == [1, 2])
        #expect(outbox.confirmed.map(\.position) == [1, 2])
        #expect(outbox.pending.map(\.position) == [3])
        // And forgotten together.
        #expect(outbox.trim(toConfirmed: 1).map(\.position) == [1, 2])
    }

    @Test("What a restored remote lost is sent as it was")
    func lostWritesAreMergedAsBefore() {
        var outbox = sent(Outbox(rows: [write(1), write(2)]), .applied(at: 0))
        outbox.append([write(3)])
        #expect(outbox.confirmed.count == 2)
        _ = outbox.restart(behind: 0, sharedEnd: -1)
        #expect(positions(outbox) == [[1, 2], [3]])
    }

    @Test("The pending writes of a commit are found")
    func pendingWritesOfCommit() {
        let outbox = Outbox(rows: [2, 4, 6].map { write($0) })
        #expect(outbox.pending(at: 3...6).map(\.position) == [4, 6])
        #expect(outbox.pending(at: 7...9).isEmpty)
        #expect(outbox.pending(at: 1...2).map(\.position) == [2])
    }
}
