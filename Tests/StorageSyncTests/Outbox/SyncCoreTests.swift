import PredicateTestSupport
import StorageCore
import Testing

@testable import StorageSync

/// One rule of the core each: what it does next, what it saves, how long it waits.
struct SyncCoreTests {
    /// A core, a clock, and the requests that it has made.
    struct Bench {
        var core: SyncCore
        var now: Int64 = 1_800_000_000_000_000
        var saved: [SyncTransaction] = []
        var sent: [SyncRequest] = []
        var timer: Int64?
        /// Whether something was sent in the last step before all was saved.
        var sendsEarly = false
        private var random = PredicateGenerator(seed: 1)

        init(_ writes: [PendingWrite] = [], _ record: SyncRecord = SyncRecord(), batchWrites: Int = 500) {
            var configuration = SyncCore.Configuration()
            configuration.batchWrites = batchWrites
            core = SyncCore(record: record, outbox: Outbox(rows: writes), configuration: configuration)
        }

        mutating func step(_ input: SyncInput) {
            sent = []
            saved = []
            sendsEarly = false
            for effect in core.step(input, at: now, using: &random) {
                switch effect {
                case .save(let transaction):
                    if !sent.isEmpty { sendsEarly = true }
                    saved.append(transaction)
                case .send(let request): sent.append(request)
                case .setTimer(let date): timer = date
                }
            }
        }

        mutating func fail(_ failure: SyncFailure) {
            guard let request = sent.first else { return }
            step(.failure(failure, of: request.id))
        }

        /// Begins a session, in which nothing was ever sent.
        mutating func open(lastNumber: Int64 = 0, results: [NumberedResult] = []) {
            step(.connected)
            guard let hello = sent.first else { return }
            step(
                .answer(
                    .welcome(
                        SyncWelcome(
                            lines: SyncCoreTests.lines, head: core.record.position, lastNumber: lastNumber,
                            results: results)),
                    to: hello.id))
        }

        var push: (id: SyncRequest.ID, first: Int64, writes: [Int64])? {
            sent.lazy.compactMap { request in
                guard case .push(_, _, let first, let writes) = request.kind else { return nil }
                return (request.id, first, writes)
            }.first
        }

        mutating func answer(_ results: [WriteResult]) {
            guard let push else { return }
            step(
                .answer(
                    .pushed(
                        results.enumerated().map { NumberedResult(number: push.first + Int64($0), result: $1) }),
                    to: push.id))
        }
    }

    static let lines = [RemoteLine(id: [1], fork: 0)]

    func write(_ position: Int64, _ id: String = "a", size: Int = 10) -> PendingWrite {
        PendingWrite(
            position: position, document: DocumentID(entity: "notes", id: id), kind: .save, size: size, base: 0)
    }

    @Test("What is sent was saved before")
    func savedBeforeSending() throws {
        var bench = Bench([write(1), write(2, "b")])
        bench.open()
        let push = try #require(bench.push)
        #expect(push.first == 1)
        #expect(push.writes == [1, 2])
        #expect(bench.saved.last?.writes.map(\.state) == [.sending(number: 1), .sending(number: 2)])
        #expect(bench.saved.last?.record.lastNumber == 2)
        #expect(!bench.sendsEarly)
    }

    @Test("A session is saved before it is requested")
    func sessionIsSavedFirst() {
        var bench = Bench()
        bench.step(.connected)
        #expect(bench.saved.map(\.record.epoch) == [1])
        #expect(!bench.sendsEarly)
        #expect(bench.sent.map(\.kind) == [.hello(epoch: 1)])
    }

    /// An idle client has a request under way.
    @Test("An open session pulls")
    func openSessionPulls() {
        var bench = Bench()
        bench.open()
        #expect(bench.sent.map(\.kind) == [.pull(line: [1], position: 0)])
    }

    @Test("A batch has a limit of bytes")
    func batchSizeLimit() {
        var bench = Bench([
            write(1, size: 200_000), write(2, size: 60_000), write(3, size: 10_000), write(4, size: 9_000_000),
        ])
        bench.open()
        #expect(bench.push?.writes == [1, 2])
        bench.answer([.applied(at: 1), .applied(at: 2)])
        #expect(bench.push?.writes == [3])
        bench.answer([.applied(at: 3)])
        #expect(bench.push?.writes == [4], "a write that is larger than a batch goes by itself")
    }

    @Test("A rejected write blocks its document only")
    func rejectionBlocksDocument() {
        var bench = Bench([write(1, "a"), write(2, "b"), write(3, "a"), write(4, "c")], batchWrites: 2)
        bench.open()
        bench.answer([.rejected(.invalid("no")), .applied(at: 1)])
        #expect(bench.core.outbox.parked.map(\.position) == [1])
        #expect(bench.push?.writes == [4])
        bench.answer([.applied(at: 2)])
        #expect(bench.push == nil)
        bench.step(.discard(position: 1))
        #expect(bench.saved.first?.removed == [1])
        #expect(bench.push?.writes == [3])
    }

    @Test("A write behind a rejected one of its batch waits")
    func writeBehindRejection() {
        var bench = Bench([write(1), write(2)])
        bench.open()
        bench.answer([.rejected(.missing), .blocked])
        #expect(bench.push == nil)
        #expect(bench.core.outbox.pending.map(\.state) == [.parked(.missing), .waiting])
        bench.step(.retry(position: 1))
        #expect(bench.push?.first == 3, "the numbers of both are used up")
        #expect(bench.push?.writes == [1, 2])
    }

    @Test("Only parked writes can be discarded")
    func discardingRequiresParking() {
        var bench = Bench([write(1)])
        bench.step(.discard(position: 1))
        bench.step(.retry(position: 1))
        #expect(bench.saved.isEmpty)
        #expect(bench.core.outbox.pending.count == 1)
    }

    /// The answer was lost after the remote had applied the batch: the next session says so, and nothing is sent twice.
    @Test("A lost answer is asked for")
    func lostAnswer() throws {
        var bench = Bench([write(1), write(2, "b")])
        bench.open()
        bench.now += 60_000_000
        bench.step(.timer)
        #expect(bench.core.connection == .closed)
        #expect(bench.sent.isEmpty)
        bench.now = try #require(bench.timer)
        bench.step(.timer)
        let hello = try #require(bench.sent.first)
        let results = [
            NumberedResult(number: 1, result: .applied(at: 7)), NumberedResult(number: 2, result: .rejected(.deleted)),
        ]
        bench.step(
            .answer(.welcome(SyncWelcome(lines: Self.lines, head: 0, lastNumber: 2, results: results)), to: hello.id))
        #expect(bench.push == nil)
        #expect(bench.core.outbox.pending.map(\.state) == [.accepted(at: 7), .parked(.deleted)])
    }

    /// The request was lost: nothing is known under its numbers, so others may have them.
    @Test("A lost request is sent again")
    func lostRequest() {
        var bench = Bench([write(1)])
        bench.open()
        bench.step(.disconnected)
        bench.step(.wrote([write(2, "b")]))
        bench.open()
        #expect(bench.push?.first == 1)
        #expect(bench.push?.writes == [1, 2])
    }

    @Test("An answer of an earlier session is skipped")
    func lateAnswer() throws {
        var bench = Bench([write(1)])
        bench.open()
        let old = try #require(bench.push)
        bench.step(.disconnected)
        bench.open()
        let before = bench.core
        bench.step(.answer(.pushed([NumberedResult(number: 1, result: .applied(at: 1))]), to: old.id))
        #expect(bench.core.outbox == before.outbox)
    }

    @Test("A write is confirmed when it was pulled")
    func pullConfirmsWrite() throws {
        var bench = Bench([write(1)])
        bench.open()
        let pull = try #require(bench.sent.last)
        bench.answer([.applied(at: 3)])
        #expect(bench.core.outbox.pending.map(\.state) == [.accepted(at: 3)])
        // The change itself isn't among them: a filter may leave it out.
        bench.step(.answer(.page(SyncPage(start: 0, end: 3, changes: [])), to: pull.id))
        #expect(bench.core.outbox.pending.isEmpty)
        #expect(bench.core.outbox.confirmed.map(\.state) == [.confirmed(at: 3)])
        #expect(bench.saved.first?.record.position == 3)
    }

    /// Whatever this store thinks of a write: what it has pulled was applied.
    @Test("A write that is seen in the history is confirmed")
    func historyConfirmsWrite() throws {
        var parked = write(1)
        parked.state = .parked(.unknown)
        var bench = Bench([parked, write(2), write(3)])
        bench.open()
        let pull = try #require(bench.sent.last)
        let change = RemoteChange(position: 4, document: parked.document, operation: .delete, ownOrigin: 1)
        bench.step(.answer(.page(SyncPage(start: 0, end: 4, changes: [change])), to: pull.id))
        #expect(bench.core.outbox.confirmed.map(\.state) == [.confirmed(at: 4)])
        #expect(bench.push?.writes == [2, 3], "what waited behind it goes on")
    }

    /// A remote that answers nonsense isn't asked again at once.
    @Test("An answer that makes no sense ends the session")
    func nonsensicalAnswer() throws {
        func change(_ position: Int64) -> RemoteChange {
            RemoteChange(
                position: position, document: DocumentID(entity: "notes", id: "a"), operation: .delete, ownOrigin: nil)
        }
        let pages = [
            SyncPage(start: 5, end: 9, changes: []), SyncPage(start: 0, end: -1, changes: []),
            SyncPage(start: 0, end: 3, changes: [change(2), change(1)]),
            SyncPage(start: 0, end: 3, changes: [change(4)]),
        ]
        for page in pages {
            var bench = Bench()
            bench.open()
            let pull = try #require(bench.sent.first)
            bench.step(.answer(.page(page), to: pull.id))
            #expect(bench.core.connection == .closed)
            #expect(bench.core.record.failures == 1)
            #expect(bench.core.record.position == 0)
            #expect(bench.saved.allSatisfy { $0.changes.isEmpty })
        }
        for welcome in [
            SyncWelcome(lines: Self.lines, head: -1, lastNumber: 0, results: []),
            SyncWelcome(lines: Self.lines, head: 0, lastNumber: -1, results: []),
            SyncWelcome(lines: [], head: 0, lastNumber: 0, results: []),
        ] {
            var bench = Bench()
            bench.step(.connected)
            bench.step(.answer(.welcome(welcome), to: bench.sent[0].id))
            #expect(bench.core.connection == .closed)
            #expect(bench.core.record.failures == 1)
        }
        // One of two writes is left out, or none was looked at.
        for results: [WriteResult] in [[.rejected(.missing)], [.blocked, .blocked]] {
            var bench = Bench([write(1), write(2)])
            bench.open()
            bench.answer(results)
            #expect(bench.core.connection == .closed)
            #expect(bench.core.record.failures == 1)
            // What has one in it counts when all have one.
            #expect(bench.core.outbox.pending.map(\.state) == [.sending(number: 1), .sending(number: 2)])
        }
    }

    @Test("A remote that doesn't hold pulls is asked once a second")
    func shortPolling() throws {
        var bench = Bench()
        bench.open()
        let pull = try #require(bench.sent.first)
        bench.now += 200_000
        bench.step(.answer(.page(SyncPage(start: 0, end: 0, changes: [])), to: pull.id))
        #expect(bench.sent.isEmpty)
        #expect(bench.saved.isEmpty)
        #expect(bench.timer == bench.now + 800_000)
        bench.now += 800_000
        bench.step(.timer)
        #expect(bench.sent.map(\.kind) == [.pull(line: [1], position: 0)])
        // One that was held is followed by the next at once.
        let next = try #require(bench.sent.first)
        bench.now += 25_000_000
        bench.step(.answer(.page(SyncPage(start: 0, end: 0, changes: [])), to: next.id))
        #expect(bench.sent.count == 1)
    }
}
