import StorageCore
import Testing

@testable import StorageSync

/// What a hub does with what it is sent, once and in order.
struct MemoryHubTests {
    private let one = ProducerID("one")
    private let other = ProducerID("other")
    private let document = DocumentID(entity: "notes", id: "a")

    private func write(
        _ origin: Int64, _ operation: WriteOperation = .save(["a": .integer(1)]), id: String = "a", base: Int64 = 0
    ) -> HubWrite {
        HubWrite(
            origin: origin, document: DocumentID(entity: "notes", id: id), operation: operation, base: base)
    }

    private func hub() -> MemoryHub {
        var hub = MemoryHub(line: [1]) { _, columns in columns["a"] == .integer(13) ? "a is 13" : nil }
        for producer in [one, other] { _ = hub.hello(from: producer, epoch: 1, line: [], position: 0) }
        return hub
    }

    private func push(
        _ writes: [HubWrite], to hub: inout MemoryHub, from producer: ProducerID? = nil, epoch: Int64 = 1,
        line: [UInt8] = [1], first: Int64
    ) -> [WriteResult]? {
        try? hub.push(writes, from: producer ?? one, epoch: epoch, line: line, firstNumber: first).get().map(\.result)
    }

    @Test func aBatchThatComesTwiceIsAppliedOnce() {
        var hub = hub()
        let writes = [write(1), write(2, .patch(["b": .null]))]
        #expect(push(writes, to: &hub, first: 1) == [.applied(at: 1), .applied(at: 2)])
        #expect(push(writes, to: &hub, first: 1) == [.applied(at: 1), .applied(at: 2)])
        #expect(hub.head == 2)
    }

    @Test func numbersAreTakenInTheirOrder() {
        var hub = hub()
        #expect(push([write(1)], to: &hub, first: 2) == nil)
        #expect(push([write(1)], to: &hub, first: 1) == [.applied(at: 1)])
        #expect(push([write(3)], to: &hub, first: 3) == nil)
        #expect(hub.head == 1)
    }

    /// A push of an earlier session was overtaken by the hello of the next.
    @Test func aSessionEndsWithTheNext() {
        var hub = hub()
        guard case .success(let welcome) = hub.hello(from: one, epoch: 2, line: [1], position: 0) else {
            Issue.record("no welcome")
            return
        }
        #expect(welcome.lastNumber == 0)
        #expect(push([write(1)], to: &hub, epoch: 1, first: 1) == nil)
        #expect(push([write(1)], to: &hub, epoch: 2, first: 1) == [.applied(at: 1)])
        #expect(hub.hello(from: one, epoch: 2, line: [1], position: 0) == .failure(.sessionEnded))
        #expect(push([write(1)], to: &hub, from: other, first: 1) != nil, "those of others go on")
    }

    @Test func aHelloHasTheOutcomesOfTheLastBatch() {
        var hub = hub()
        _ = push([write(1)], to: &hub, first: 1)
        _ = push([write(2, .delete), write(3, .patch([:]))], to: &hub, first: 2)
        let welcome = SyncWelcome(
            line: [1], shared: 0, lastNumber: 3,
            results: [
                NumberedResult(number: 2, result: .applied(at: 2)),
                NumberedResult(number: 3, result: .rejected(.deleted)),
            ])
        #expect(hub.hello(from: one, epoch: 2, line: [], position: 0) == .success(welcome))
    }

    @Test func whatFollowsARejectedWriteOfItsDocumentIsLeftAside() {
        var hub = hub()
        let results = push(
            [write(1, .save(["a": .integer(13)])), write(2), write(3, id: "b"), write(4, .delete)], to: &hub, first: 1)
        #expect(results == [.rejected(.invalid("a is 13")), .blocked, .applied(at: 1), .blocked])
        #expect(push([write(2)], to: &hub, first: 5) == [.applied(at: 2)], "in the next batch it is taken")
    }

    @Test func columnsKeepTheLastValue() {
        var hub = hub()
        _ = push([write(1, .save(["a": .integer(1), "b": .integer(1)]))], to: &hub, first: 1)
        _ = push([write(1, .patch(["b": .integer(2)]))], to: &hub, from: other, first: 1)
        _ = push([write(2, .patch(["a": .integer(3)]))], to: &hub, first: 2)
        #expect(hub.documents == [document: ["a": .integer(3), "b": .integer(2)]])
    }

    @Test func deletionsWinOverThoseWhoDoNotKnowOfThem() {
        var hub = hub()
        _ = push([write(1)], to: &hub, first: 1)
        #expect(push([write(1, .delete)], to: &hub, from: other, first: 1) == [.applied(at: 2)])
        #expect(push([write(2, .patch(["a": .null]))], to: &hub, first: 2) == [.rejected(.deleted)])
        #expect(push([write(3, base: 1)], to: &hub, first: 3) == [.rejected(.deleted)])
        #expect(push([write(4, base: 2)], to: &hub, first: 4) == [.applied(at: 3)], "who knows begins it anew")
    }

    @Test func aProducerKnowsOfItsOwnDeletions() {
        var hub = hub()
        let results = push([write(1), write(2, .delete), write(3)], to: &hub, first: 1)
        #expect(results == [.applied(at: 1), .applied(at: 2), .applied(at: 3)])
        #expect(push([write(4, .patch([:]), id: "nowhere")], to: &hub, first: 4) == [.rejected(.missing)])
    }

    @Test func aRestoredHubSaysWhatIsShared() {
        var hub = hub()
        _ = push([write(1), write(2, id: "b")], to: &hub, first: 1)
        var restored = hub
        _ = push([write(3, id: "c")], to: &hub, first: 3)
        restored.beginLine([2])
        func shared(_ line: [UInt8], _ position: Int64) -> Int64? {
            var copy = restored
            return try? copy.hello(from: one, epoch: 9, line: line, position: position).get().shared
        }
        #expect(shared([1], 3) == 2 && shared([1], 1) == 1)
        #expect(shared([2], 2) == 2)
        #expect(shared([7], 2) == 0, "another hub")
        #expect(push([write(3)], to: &restored, line: [1], first: 3) == nil)
        #expect(restored.pull(for: one, line: [1], after: 2, limit: 10) == .failure(.sessionEnded))
    }

    @Test func pagesFollowOneAnother() {
        var hub = hub()
        _ = push((1...5).map { write($0, id: "\($0)") }, to: &hub, first: 1)
        func page(_ position: Int64) -> SyncPage? {
            try? hub.pull(for: other, line: [1], after: position, limit: 2).get()
        }
        #expect(page(0)?.end == 2 && page(2)?.end == 4 && page(4)?.end == 5 && page(5)?.end == 5)
        #expect(page(4)?.changes.map(\.position) == [5] && page(5)?.changes.isEmpty == true)
        #expect(page(6) == nil && page(-1) == nil)
        #expect(page(0)?.changes.allSatisfy { $0.ownNumber == nil } == true)
        let own = try? hub.pull(for: one, line: [1], after: 0, limit: 2).get()
        #expect(own?.changes.map(\.ownNumber) == [1, 2])
    }
}
