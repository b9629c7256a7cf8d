import StorageCore
import StorageKit
import Testing

@testable import StorageSync

/// What each kind of hub keeps to.
@Suite(.timeLimit(.minutes(10))) struct SyncHubConformance {
    private let save = WriteOperation.save(["a": .text("1")])
    private let patch = WriteOperation.patch(["b": .text("2")])

    @Test("A repeated batch is applied once", arguments: HubKind.allCases)
    func repeatedBatch(kind: HubKind) async throws {
        let hub = try await TestedHub(kind).hub
        let one = try await HubClient("one", hub)
        let batch = one.batch([HubWrite(1, save), HubWrite(2, patch)])
        let results = try await hub.push(batch, as: .full)
        let head = try await hub.head()
        let position = try #require(results.last?.result.position)
        #expect(results.map(\.number) == [1, 2])
        #expect(position <= head)
        #expect(try await hub.push(batch, as: .full) == results)
        #expect(try await hub.head() == head)
    }

    /// Two copies of a device send different writes under the same numbers.
    @Test("Other writes under the numbers of the last batch are refused", arguments: HubKind.allCases)
    func reusedNumbers(kind: HubKind) async throws {
        let hub = try await TestedHub(kind).hub
        let one = try await HubClient("one", hub)
        let results = try await hub.push(one.batch([HubWrite(1, save)]), as: .full)
        let head = try await hub.head()
        let others: [[HubWrite]] = [
            [HubWrite(1, .save(["a": .text("2")]))], [HubWrite(2, save)], [HubWrite(1, save, of: "2")],
            [HubWrite(1, save, isConditional: true)], [HubWrite(1, save), HubWrite(2, patch)],
        ]
        for writes in others {
            await #expect(throws: SyncFailure.numberReused) { try await hub.push(one.batch(writes), as: .full) }
        }
        #expect(try await hub.head() == head)
        #expect(try await hub.push(one.batch([HubWrite(1, save)]), as: .full) == results)
    }

    /// A copy of a running device has sent several batches in the session of both.
    @Test("Earlier numbers of the session are refused as reused, missing ones aren't", arguments: HubKind.allCases)
    func reusedEarlierNumbers(kind: HubKind) async throws {
        let hub = try await TestedHub(kind).hub
        let one = try await HubClient("one", hub)
        var copy = one
        _ = try await copy.push(HubWrite(1, save, of: "2"), HubWrite(2, patch, of: "2"))
        _ = try await copy.push(HubWrite(3, save, of: "3"))
        let head = try await hub.head()
        let first = one.batch([HubWrite(1, save)])
        await #expect(throws: SyncFailure.numberReused) { try await hub.push(first, as: .full) }
        // A number inside of a batch.
        let second = HubBatch(
            producer: one.producer, epoch: 1, line: one.line, firstNumber: 2, writes: [HubWrite(1, save)])
        await #expect(throws: SyncFailure.numberReused) { try await hub.push(second, as: .full) }
        // The hub was replaced by an older copy of itself.
        let early = HubBatch(
            producer: one.producer, epoch: 1, line: one.line, firstNumber: 5, writes: [HubWrite(1, save)])
        await #expect(throws: SyncFailure.sessionEnded(epoch: 1)) { try await hub.push(early, as: .full) }
        #expect(try await hub.head() == head)
        // A batch of an earlier session has no effect, whatever its numbers are.
        _ = try await hub.hello(from: one.producer, epoch: 2, as: .full)
        await #expect(throws: SyncFailure.sessionEnded(epoch: 2)) { try await hub.push(first, as: .full) }
    }

    @Test("A hello names the session of the last batch", arguments: HubKind.allCases)
    func sessionOfLastBatch(kind: HubKind) async throws {
        let hub = try await TestedHub(kind).hub
        var one = try await HubClient("one", hub)
        let unsent = try await hub.hello(from: one.producer, epoch: 2, as: .full)
        #expect(unsent.lastSession == nil)
        try await one.hello(3)
        _ = try await one.push(HubWrite(1, save))
        for epoch in Int64(4)...5 {
            let welcome = try await hub.hello(from: one.producer, epoch: epoch, as: .full)
            #expect(welcome.lastSession == SyncSession(epoch: 3, line: one.line))
        }
    }

    @Test("An empty batch is refused, and the outcomes of the last one are kept", arguments: HubKind.allCases)
    func emptyBatch(kind: HubKind) async throws {
        let hub = try await TestedHub(kind).hub
        var one = try await HubClient("one", hub)
        _ = try await one.push(HubWrite(1, save), HubWrite(2, patch))
        await #expect(throws: SyncFailure.emptyBatch) { try await hub.push(one.batch([]), as: .full) }
        let welcome = try await hub.hello(from: one.producer, epoch: 2, as: .full)
        #expect(welcome.lastNumber == 2)
        #expect(welcome.results.map(\.number) == [1, 2])
    }

    @Test("Numbers begin at one", arguments: HubKind.allCases)
    func numberBelowOne(kind: HubKind) async throws {
        let hub = try await TestedHub(kind).hub
        var one = try await HubClient("one", hub)
        // A number below zero can't be sent over HTTP.
        for number: Int64 in kind.isAskedDirectly ? [0, -1] : [0] {
            let batch = HubBatch(
                producer: one.producer, epoch: 1, line: one.line, firstNumber: number, writes: [HubWrite(1, save)])
            await #expect(throws: SyncFailure.numberBelowOne) { try await hub.push(batch, as: .full) }
        }
        #expect(try await one.push(HubWrite(1, save)).first?.position != nil)
    }

    @Test("Numbers are accepted in order", arguments: HubKind.allCases)
    func numbersInOrder(kind: HubKind) async throws {
        let hub = try await TestedHub(kind).hub
        var one = try await HubClient("one", hub)
        let early = HubBatch(
            producer: one.producer, epoch: 1, line: one.line, firstNumber: 2, writes: [HubWrite(1, save)])
        await #expect(throws: SyncFailure.sessionEnded(epoch: 1)) { try await hub.push(early, as: .full) }
        _ = try await one.push(HubWrite(1, save))
        #expect(try await one.push(HubWrite(2, patch)).first?.position != nil)
    }

    /// A push of an earlier session was overtaken by the hello of the next.
    @Test("A session ends with the next one", arguments: HubKind.allCases)
    func sessionEndsWithNext(kind: HubKind) async throws {
        let hub = try await TestedHub(kind).hub
        var one = try await HubClient("one", hub)
        let late = one.batch([HubWrite(1, save)])
        try await one.hello()
        await #expect(throws: SyncFailure.sessionEnded(epoch: 2)) { try await hub.push(late, as: .full) }
        await #expect(throws: SyncFailure.sessionEnded(epoch: 2)) {
            try await hub.hello(from: one.producer, epoch: 2, as: .full)
        }
        #expect(try await one.push(HubWrite(1, save)).first?.position != nil)
        let welcome = try await hub.hello(from: one.producer, epoch: 3, as: .full)
        #expect(welcome.lastNumber == 1)
        #expect(welcome.results.map(\.number) == [1])
    }

    /// The producer has numbered its writes anew, since it followed another branch of the hub's history.
    @Test("A write that was applied before is known by its origin", arguments: HubKind.allCases)
    func renumberedWrites(kind: HubKind) async throws {
        let hub = try await TestedHub(kind).hub
        var one = try await HubClient("one", hub)
        let first = try await one.push(HubWrite(7, save), HubWrite(8, patch))
        let head = try await hub.head()
        #expect(try await one.push(HubWrite(7, save), HubWrite(8, patch)) == first)
        #expect(try await hub.head() == head)
    }

    @Test("A write that is twice in a batch is applied once", arguments: HubKind.allCases)
    func writeTwiceInBatch(kind: HubKind) async throws {
        let hub = try await TestedHub(kind).hub
        var one = try await HubClient("one", hub)
        let write = HubWrite(7, .save(["a": .text("1")]))
        let results = try await one.push(write, HubWrite(8, .save(["a": .text("2")])), write)
        #expect(results[2] == results[0])
        try await one.catchUp()
        #expect(one.documents.values.map { $0["a"] } == ["2"])
    }

    /// Two spellings of a letter are equal to Swift, and two to everybody else.
    @Test("Ids are compared by their bytes", arguments: HubKind.allCases)
    func idsCompareByBytes(kind: HubKind) async throws {
        let hub = try await TestedHub(kind).hub
        var one = try await HubClient("one", hub)
        let (composed, decomposed) = ("\u{e9}", "e\u{301}")
        let results = try await one.push(
            HubWrite(1, patch, of: composed), HubWrite(2, save, of: decomposed), HubWrite(3, save, of: composed))
        #expect(results[0] == .rejected(.missing))
        #expect(results[2] == .blocked)
        #expect(results[1].position != nil, "another document's")
        _ = try await one.push(HubWrite(4, save, of: composed))
        try await one.catchUp()
        #expect(Set(one.documents.keys.map { Array($0.id.utf8) }) == [Array(composed.utf8), Array(decomposed.utf8)])
        let head = try await hub.head()
        _ = try await one.push(HubWrite(5, .delete, of: decomposed, base: head))
        _ = try await one.push(HubWrite(6, patch, of: composed, base: 0))
        try await one.catchUp()
        #expect(one.documents.keys.map { Array($0.id.utf8) } == [Array(composed.utf8)])
    }

    @Test("A rejected write blocks its document only", arguments: HubKind.allCases)
    func rejectionBlocksDocument(kind: HubKind) async throws {
        let hub = try await TestedHub(kind).hub
        var one = try await HubClient("one", hub)
        let results = try await one.push(
            HubWrite(1, patch, of: "1"), HubWrite(2, save, of: "1"), HubWrite(3, save, of: "2"))
        #expect(results[0] == .rejected(.missing))
        #expect(results[1] == .blocked)
        #expect(results[2].position != nil)
        #expect(try await one.push(HubWrite(4, save, of: "1")).first?.position != nil)
    }

    /// Also where somebody has made the document again meanwhile.
    @Test("Deletions win", arguments: HubKind.allCases)
    func deletionsWin(kind: HubKind) async throws {
        let hub = try await TestedHub(kind).hub
        var one = try await HubClient("one", hub)
        var other = try await HubClient("other", hub)
        let created = try #require(try await one.push(HubWrite(1, save)).first?.position)
        let deleted = try #require(try await other.push(HubWrite(1, .delete, base: created)).first?.position)
        #expect(try await one.push(HubWrite(2, patch, base: created)) == [.rejected(.deleted)])
        #expect(try await one.push(HubWrite(3, save, base: created)) == [.rejected(.deleted)])
        let again = try #require(try await other.push(HubWrite(2, save, base: deleted)).first?.position)
        #expect(try await one.push(HubWrite(4, save, base: created)) == [.rejected(.deleted)], "of another document")
        #expect(try await one.push(HubWrite(5, patch, base: created)) == [.rejected(.deleted)])
        #expect(try await one.push(HubWrite(6, patch, base: again)).first?.position != nil)
        #expect(try await one.push(HubWrite(7, .delete, base: 0)).first?.position != nil, "a deletion needs no base")
        #expect(try await one.push(HubWrite(8, save, base: 0)).first?.position != nil, "it knows its own deletion")
    }

    /// A conditional write knows its producer's own changes, and those of the same batch.
    @Test("A conditional write yields to others", arguments: HubKind.allCases)
    func conditionalWriteYields(kind: HubKind) async throws {
        let hub = try await TestedHub(kind).hub
        var one = try await HubClient("one", hub)
        var other = try await HubClient("other", hub)
        _ = try await one.push(
            HubWrite(1, save, isConditional: true), HubWrite(2, .patch(["b": .text("3")]), isConditional: true))
        #expect(try await one.push(HubWrite(3, patch, isConditional: true)).first?.position != nil)
        let base = try await hub.head()
        let position = try #require(
            try await other.push(HubWrite(1, .patch(["b": .text("4")]), base: base)).first?.position)
        let late = HubWrite(4, .patch(["b": .text("5")]), base: base, isConditional: true)
        #expect(try await one.push(late) == [.rejected(.conflict(at: position))])
        let now = HubWrite(5, .patch(["b": .text("6")]), base: position, isConditional: true)
        #expect(try await one.push(now).first?.position != nil)
    }

    /// Also where its producer has deleted the document meanwhile, without knowing of what they had done, and made it again.
    @Test("A conditional write yields to what its own deletion removed", arguments: HubKind.allCases)
    func conditionalAfterDeletion(kind: HubKind) async throws {
        let hub = try await TestedHub(kind).hub
        var one = try await HubClient("one", hub)
        var other = try await HubClient("other", hub)
        let base = try #require(try await one.push(HubWrite(1, save)).first?.position)
        let theirs = try #require(try await other.push(HubWrite(1, patch, base: base)).first?.position)
        _ = try await one.push(HubWrite(2, .delete, base: base), HubWrite(3, save, base: base))
        let late = HubWrite(4, patch, base: base, isConditional: true)
        #expect(try await one.push(late) == [.rejected(.conflict(at: theirs))])
        #expect(try await one.push(HubWrite(5, patch, base: theirs, isConditional: true)).first?.position != nil)
        // Others delete it and make it again: a deletion is refused as well.
        let now = try await hub.head()
        let again = try await other.push(HubWrite(2, .delete, base: now), HubWrite(3, save, base: now))
        let position = try #require(again.last?.position)
        let deletion = HubWrite(6, .delete, base: now, isConditional: true)
        #expect(try await one.push(deletion) == [.rejected(.conflict(at: position))])
    }

    @Test("A follower knows its own writes", arguments: HubKind.allCases)
    func followerKnowsOwnWrites(kind: HubKind) async throws {
        let hub = try await TestedHub(kind).hub
        var one = try await HubClient("one", hub)
        var other = try await HubClient("other", hub)
        try await one.catchUp()
        _ = try await other.push(HubWrite(5, save, of: "1"))
        _ = try await one.push(HubWrite(6, save, of: "2"))
        try await one.catchUp()
        #expect(one.origins == [6])
        #expect(one.documents.count == 2)
    }

    /// However a page has several writes of a document: one by one, or as the last of them.
    @Test("A follower knows what others changed before", arguments: HubKind.allCases)
    func earlierChangesOfOthers(kind: HubKind) async throws {
        let hub = try await TestedHub(kind).hub
        var one = try await HubClient("one", hub)
        var other = try await HubClient("other", hub)
        for (origin, id) in zip(Int64(1)..., ["a", "b", "c"]) { _ = try await one.push(HubWrite(origin, save, of: id)) }
        try await one.catchUp()
        let theirs = try await other.push(
            HubWrite(1, .patch(["b": .text("3")]), of: "a"), HubWrite(2, .patch(["b": .text("3")]), of: "b"))
        _ = try await one.push(
            HubWrite(4, .patch(["b": .text("4")]), of: "a"), HubWrite(5, .patch(["b": .text("4")]), of: "c"))
        _ = try await other.push(HubWrite(3, .patch(["b": .text("5")]), of: "c"))
        var changes: [RemoteChange] = []
        while try await one.position < hub.head() {
            try await one.pull()
            changes += try #require(one.lastPage).changes
        }
        let last = Dictionary(changes.map { ($0.document.id, $0.foreignPosition) }) { max($0 ?? 0, $1 ?? 0) }
        #expect(last["a"] == theirs[0].position)
        #expect(last["b"] == theirs[1].position)
        #expect(changes.last { $0.document.id == "c" }?.ownOrigin == nil)
    }

    /// Also right behind the commit, while the hub's own reader of the log is behind.
    @Test("What was committed can be pulled at once", arguments: HubKind.allCases)
    func pullAfterCommit(kind: HubKind) async throws {
        let hub = try await TestedHub(kind).hub
        var one = try await HubClient("one", hub)
        for origin in 1...50 {
            let position = try #require(
                try await one.push(HubWrite(Int64(origin), save, of: "\(origin)")).first?.position)
            let seen = one.position
            let page = try await hub.pull(pull(behind: seen, on: one.line), as: .full)
            #expect(page.end >= position)
            #expect(page.changes.map(\.document.id).last == "\(origin)")
            try await one.catchUp()
        }
    }

    @Test("Another history is refused", arguments: HubKind.allCases)
    func anotherHistory(kind: HubKind) async throws {
        let hub = try await TestedHub(kind).hub
        var one = try await HubClient("one", hub)
        _ = try await one.push(HubWrite(1, save))
        let head = try await hub.head()
        var lines: [([UInt8], Int64)] = [(Array(repeating: 9, count: 16), 0), (one.line, head + 1)]
        if kind.isAskedDirectly { lines.append((one.line, -1)) }
        for (line, position) in lines {
            for wait in [Duration.zero, .seconds(20)] {
                var pull = pull(behind: position, on: line)
                pull.wait = wait
                await #expect(throws: SyncFailure.sessionEnded(epoch: nil)) { try await hub.pull(pull, as: .full) }
            }
        }
        let batch = HubBatch(
            producer: one.producer, epoch: 1, line: lines[0].0, firstNumber: 2, writes: [HubWrite(2, patch)])
        await #expect(throws: SyncFailure.sessionEnded(epoch: nil)) { try await hub.push(batch, as: .full) }
    }

    private func pull(behind position: Int64, on line: [UInt8]) -> HubPull {
        var pull = HubPull(behind: position, of: ["notes"])
        pull.line = line
        return pull
    }
}
