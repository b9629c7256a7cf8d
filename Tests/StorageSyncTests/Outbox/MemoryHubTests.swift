import StorageCore
import Testing

@testable import StorageSync

/// What a hub does with what it is sent, once and in order.
struct MemoryHubTests {
    private let one = ProducerID("one")
    private let other = ProducerID("other")
    private let document = DocumentID(entity: "notes", id: "a")

    private func write(
        _ origin: Int64, _ operation: WriteOperation = .save(["a": .integer(1)]), id: String = "a", base: Int64 = 0,
        isConditional: Bool = false
    ) -> HubWrite {
        HubWrite(
            origin: origin, document: DocumentID(entity: "notes", id: id), operation: operation, base: base,
            isConditional: isConditional)
    }

    private func hub() -> MemoryHub {
        var hub = MemoryHub(line: [1]) { _, columns in columns["a"] == .integer(13) ? "a is 13" : nil }
        for producer in [one, other] { _ = hub.hello(from: producer, epoch: 1) }
        return hub
    }

    private func push(
        _ writes: [HubWrite], to hub: inout MemoryHub, from producer: ProducerID? = nil, epoch: Int64 = 1,
        line: [UInt8] = [1], first: Int64
    ) -> [WriteResult]? {
        let batch = HubBatch(
            producer: producer ?? one, epoch: epoch, line: line, firstNumber: first, writes: writes)
        return try? hub.push(batch).get().map(\.result)
    }

    @Test("A repeated batch is applied once")
    func repeatedBatch() {
        var hub = hub()
        let writes = [write(1), write(2, .patch(["b": .null]))]
        #expect(push(writes, to: &hub, first: 1) == [.applied(at: 1), .applied(at: 2)])
        #expect(push(writes, to: &hub, first: 1) == [.applied(at: 1), .applied(at: 2)])
        #expect(hub.head == 2)
    }

    @Test("Numbers are accepted in order")
    func numbersInOrder() {
        var hub = hub()
        #expect(push([write(1)], to: &hub, first: 2) == nil)
        #expect(push([write(1)], to: &hub, first: 1) == [.applied(at: 1)])
        #expect(push([write(3)], to: &hub, first: 3) == nil)
        #expect(hub.head == 1)
    }

    /// A push of an earlier session was overtaken by the hello of the next.
    @Test("A session ends with the next one")
    func sessionEndsWithNext() {
        var hub = hub()
        guard case .success(let welcome) = hub.hello(from: one, epoch: 2) else {
            Issue.record("no welcome")
            return
        }
        #expect(welcome.lastNumber == 0)
        #expect(push([write(1)], to: &hub, epoch: 1, first: 1) == nil)
        #expect(push([write(1)], to: &hub, epoch: 2, first: 1) == [.applied(at: 1)])
        #expect(hub.hello(from: one, epoch: 2) == .failure(.sessionEnded(epoch: 2)))
        #expect(push([write(1)], to: &hub, from: other, first: 1) != nil, "those of others go on")
    }

    @Test("A hello returns the results of the last batch")
    func helloReturnsLastResults() {
        var hub = hub()
        _ = push([write(1)], to: &hub, first: 1)
        _ = push([write(2, .delete), write(3, .patch([:]))], to: &hub, first: 2)
        let welcome = SyncWelcome(
            lines: hub.lines, head: hub.head, lastNumber: 3,
            results: [
                NumberedResult(number: 2, result: .applied(at: 2)),
                NumberedResult(number: 3, result: .rejected(.deleted)),
            ], lastSession: SyncSession(epoch: 1, line: [1]))
        #expect(hub.hello(from: one, epoch: 2) == .success(welcome))
    }

    @Test("A rejected write blocks what follows it in its document")
    func rejectionBlocksDocument() {
        var hub = hub()
        let results = push(
            [write(1, .save(["a": .integer(13)])), write(2), write(3, id: "b"), write(4, .delete)], to: &hub, first: 1)
        #expect(results == [.rejected(.invalid("a is 13")), .blocked, .applied(at: 1), .blocked])
        #expect(push([write(2)], to: &hub, first: 5) == [.applied(at: 2)], "in the next batch it is taken")
    }

    @Test("Columns keep the last value")
    func columnsKeepLastValue() {
        var hub = hub()
        _ = push([write(1, .save(["a": .integer(1), "b": .integer(1)]))], to: &hub, first: 1)
        _ = push([write(1, .patch(["b": .integer(2)]))], to: &hub, from: other, first: 1)
        _ = push([write(2, .patch(["a": .integer(3)]))], to: &hub, first: 2)
        #expect(hub.documents == [document: ["a": .integer(3), "b": .integer(2)]])
    }

    @Test("Deletions win against clients that don't know of them")
    func unknownDeletionsWin() {
        var hub = hub()
        _ = push([write(1)], to: &hub, first: 1)
        #expect(push([write(1, .delete)], to: &hub, from: other, first: 1) == [.applied(at: 2)])
        #expect(push([write(2, .patch(["a": .null]))], to: &hub, first: 2) == [.rejected(.deleted)])
        #expect(push([write(3, base: 1)], to: &hub, first: 3) == [.rejected(.deleted)])
        // Who knows of it may create the document again.
        #expect(push([write(4, base: 2)], to: &hub, first: 4) == [.applied(at: 3)])
        // A change of what it was before isn't one of what it is now.
        #expect(push([write(2, .delete, id: "b")], to: &hub, from: other, first: 2) == [.applied(at: 4)])
        #expect(push([write(3, id: "b", base: 4)], to: &hub, from: other, first: 3) == [.applied(at: 5)])
        #expect(push([write(5, .patch([:]), id: "b", base: 3)], to: &hub, first: 5) == [.rejected(.deleted)])
    }

    @Test("A conditional write is rejected where another producer changed its document")
    func conditionalWriteYields() {
        var hub = hub()
        _ = push([write(1), write(2, id: "b")], to: &hub, first: 1)
        func attempt(_ origin: Int64, id: String = "a", base: Int64, from producer: ProducerID, first: Int64)
            -> WriteResult?
        {
            push([write(origin, id: id, base: base, isConditional: true)], to: &hub, from: producer, first: first)?
                .first
        }
        // Its own changes are none.
        #expect(attempt(3, base: 0, from: one, first: 3) == .applied(at: 3))
        #expect(attempt(1, base: 2, from: other, first: 1) == .rejected(.conflict(at: 3)))
        #expect(attempt(1, base: 3, from: other, first: 2) == .applied(at: 4))
        #expect(attempt(4, base: 3, from: one, first: 4) == .rejected(.conflict(at: 4)))
        // Changes of its own don't hide one before them.
        #expect(push([write(5)], to: &hub, first: 5) == [.applied(at: 5)])
        #expect(attempt(6, base: 3, from: one, first: 6) == .rejected(.conflict(at: 4)))
        #expect(attempt(6, base: 4, from: one, first: 7) == .applied(at: 6))
        #expect(attempt(2, id: "b", base: 2, from: other, first: 3) == .applied(at: 7))
        // Deletions are changes, and a conditional deletion is refused like any other write.
        let deletion = write(7, .delete, id: "b", base: 6, isConditional: true)
        #expect(push([deletion], to: &hub, first: 8) == [.rejected(.conflict(at: 7))])
    }

    @Test("A producer knows of its own deletions")
    func ownDeletions() {
        var hub = hub()
        let results = push([write(1), write(2, .delete), write(3)], to: &hub, first: 1)
        #expect(results == [.applied(at: 1), .applied(at: 2), .applied(at: 3)])
        #expect(push([write(4, .patch([:]), id: "nowhere")], to: &hub, first: 4) == [.rejected(.missing)])
    }

    @Test("A restored hub starts a line")
    func restoredHub() {
        var hub = hub()
        _ = push([write(1), write(2, id: "b")], to: &hub, first: 1)
        var restored = hub
        _ = push([write(3, id: "c")], to: &hub, first: 3)
        restored.beginLine([2])
        #expect(restored.lines == [RemoteLine(id: [1], fork: 0), RemoteLine(id: [2], fork: 2)])
        #expect(push([write(3)], to: &restored, line: [1], first: 3) == nil)
        #expect(restored.pull(for: one, line: [1], after: 2, limit: 10) == .failure(.sessionEnded(epoch: nil)))
        #expect(push([write(3, id: "c")], to: &restored, line: [2], first: 3) == [.applied(at: 3)])
        #expect(restored.lines.sharedEnd(with: hub.lines) == 2)
        #expect(hub.lines.sharedEnd(with: restored.lines) == 2)
        #expect(hub.lines.sharedEnd(with: hub.lines) == .max)
        #expect(hub.lines.sharedEnd(with: []) == 0)
        var sibling = hub
        sibling.beginLine([3])
        #expect(restored.lines.sharedEnd(with: sibling.lines) == 2)
    }

    /// A backup that already has what the producer sends again, because another one was restored in between.
    @Test("A write that is already there isn't applied again")
    func alreadyAppliedWrite() {
        var hub = hub()
        _ = push([write(1), write(2, id: "b")], to: &hub, first: 1)
        #expect(push([write(2, id: "b"), write(3)], to: &hub, first: 3) == [.applied(at: 2), .applied(at: 3)])
        // One that was parked long and comes late is behind others, and new.
        #expect(push([write(5)], to: &hub, first: 5) == [.applied(at: 4)])
        #expect(push([write(4, id: "c")], to: &hub, first: 6) == [.applied(at: 5)])
        #expect(
            push([write(1)], to: &hub, from: other, first: 1) == [.applied(at: 6)], "origins are the producer's own")
    }

    @Test("Pages follow one another")
    func consecutivePages() {
        var hub = hub()
        _ = push((1...5).map { write($0, id: "\($0)") }, to: &hub, first: 1)
        func page(_ position: Int64) -> SyncPage? {
            try? hub.pull(for: other, line: [1], after: position, limit: 2).get()
        }
        #expect(page(0)?.end == 2)
        #expect(page(2)?.end == 4)
        #expect(page(4)?.end == 5)
        #expect(page(5)?.end == 5)
        #expect(page(4)?.changes.map(\.position) == [5])
        #expect(page(5)?.changes.isEmpty == true)
        #expect(page(6) == nil)
        #expect(page(-1) == nil)
        #expect(page(0)?.changes.allSatisfy { $0.ownOrigin == nil } == true)
        let own = try? hub.pull(for: one, line: [1], after: 0, limit: 2).get()
        #expect(own?.changes.map(\.ownOrigin) == [1, 2])
    }
}
