import PredicateTestSupport
import StorageCore
import Testing

@testable import StorageSync

/// One rule of the core each: what it does next, what it saves, how long it waits.
struct SyncCoreTests {
    /// A core, a clock, and the requests that it has made.
    private struct Bench {
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

    private static let lines = [RemoteLine(id: [1], fork: 0)]

    private func write(_ position: Int64, _ id: String = "a", size: Int = 10) -> PendingWrite {
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

    /// Whoever only waits for the remote has a request under way.
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
            #expect(bench.saved.allSatisfy(\.changes.isEmpty))
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

    /// 2, 4, 8, 16, 32 and then 60 seconds are the most; a random part of it is waited.
    @Test("Delays grow and are saved")
    func delaysAreSaved() {
        var bench = Bench([write(1)])
        bench.step(.connected)
        for ceiling: Int64 in [2, 4, 8, 16, 32, 60, 60, 60] {
            bench.fail(.retryable(afterMicroseconds: nil))
            let record = bench.core.record
            #expect((0...ceiling * 1_000_000).contains(record.retryTime - bench.now))
            #expect(bench.saved.last?.record == record)
            bench.now = record.retryTime
            bench.step(.timer)
            #expect(bench.sent.count == 1)
        }
        // Full jitter: anything up to the ceiling.
        let delays = (0..<100).map { _ in
            bench.fail(.retryable(afterMicroseconds: nil))
            defer {
                bench.now = bench.core.record.retryTime
                bench.step(.timer)
            }
            return bench.core.record.retryTime - bench.now
        }
        #expect(delays.count { $0 < 20_000_000 } > 15)
        #expect(delays.count { $0 > 40_000_000 } > 15)
        // Not by a session alone.
        bench.step(
            .answer(.welcome(SyncWelcome(lines: Self.lines, head: 0, lastNumber: 0, results: [])), to: bench.sent[0].id)
        )
        #expect(bench.core.record.failures == 108)
        bench.answer([.applied(at: 1)])
        #expect(bench.core.record.failures == 0)
    }

    /// Who only reads is not made to wait longer each time.
    @Test("A page ends the failures of a client with nothing to send")
    func pageResetsFailures() throws {
        var parked = write(1)
        parked.state = .parked(.missing)
        var record = SyncRecord()
        record.failures = 5
        var bench = Bench([parked, write(2)], record)
        bench.open()
        let pull = try #require(bench.sent.first)
        #expect(bench.push == nil)
        #expect(bench.core.record.failures == 5)
        bench.step(.answer(.page(SyncPage(start: 0, end: 3, changes: [])), to: pull.id))
        #expect(bench.core.record.failures == 0)
    }

    @Test("A delay that the remote asks for survives a restart")
    func requestedDelay() {
        var bench = Bench([write(1)])
        bench.step(.connected)
        bench.fail(.retryable(afterMicroseconds: 120_000_000))
        #expect((120_000_000...122_000_000).contains(bench.core.record.retryTime - bench.now))
        var next = Bench([write(1)], bench.core.record)
        next.now = bench.now + 119_000_000
        // A process that begins is no network that comes back.
        next.step(.connected)
        #expect(next.sent.isEmpty)
        #expect(next.timer == bench.core.record.retryTime)
        next.now = bench.core.record.retryTime
        next.step(.timer)
        #expect(next.sent.count == 1)
        // It isn't waited for again when the clock is set back.
        next.now -= 3_600_000_000
        next.step(.disconnected)
        next.step(.connected)
        #expect(next.sent.count == 1)
    }

    @Test("A returning network ends a delay")
    func returningNetwork() {
        var bench = Bench([write(1)])
        bench.step(.connected)
        for _ in 0..<6 {
            bench.fail(.retryable(afterMicroseconds: nil))
            bench.step(.disconnected)
            bench.step(.connected)
            #expect(bench.sent.count == 1)
        }
        bench.fail(.retryable(afterMicroseconds: 1_000_000))
        bench.step(.connected)
        #expect(bench.sent.isEmpty, "the remote has asked for the delay")
        bench.step(.retryNow)
        #expect(bench.sent.count == 1)
    }

    @Test("Missing credentials are waited for and not counted")
    func missingCredentials() {
        var bench = Bench([write(1)])
        bench.step(.connected)
        bench.fail(.unauthorized)
        #expect(bench.core.connection == .unauthorized)
        #expect(bench.timer == nil)
        #expect(bench.core.record.failures == 0)
        bench.step(.connected)
        bench.step(.wrote([write(2)]))
        #expect(bench.sent.isEmpty)
        bench.step(.authorized)
        #expect(bench.sent.count == 1)
    }

    /// A request is refused for its old credentials when there are others already.
    @Test("New credentials aren't missed")
    func newCredentials() {
        var bench = Bench([write(1)])
        bench.open()
        guard let push = bench.push else {
            Issue.record("nothing was sent")
            return
        }
        bench.step(.authorized)
        bench.step(.failure(.unauthorized, of: push.id))
        #expect(bench.core.connection == .closed)
        #expect(bench.timer != nil)
    }

    /// A batch that a remote doesn't take becomes smaller, until the write is alone that is the reason.
    @Test("A refused batch is split until one write is parked")
    func refusedBatchIsSplit() throws {
        var bench = Bench([write(1, "a"), write(2, "b"), write(3, "c")])
        bench.open()
        var sizes: [Int] = []
        for _ in 0..<10 {
            guard let push = bench.push else { break }
            sizes.append(push.writes.count)
            if push.writes.contains(2) {
                bench.step(.failure(.refused(.invalid("too large")), of: push.id))
                let hello = try #require(bench.sent.first)
                let last = bench.core.record.settledNumber
                bench.step(
                    .answer(
                        .welcome(SyncWelcome(lines: Self.lines, head: 0, lastNumber: last, results: [])), to: hello.id))
            } else {
                bench.answer(push.writes.map { .applied(at: $0) })
            }
        }
        #expect(sizes == [3, 1, 2, 1, 1])
        #expect(bench.core.outbox.parked.map(\.position) == [2])
        #expect(bench.core.outbox.pending.count == 3)
        #expect(!bench.core.outbox.hasSendable)
    }

    /// A store that was put back asks with an epoch that the remote has seen.
    @Test("A later epoch is adopted")
    func laterEpoch() {
        var bench = Bench()
        bench.step(.connected)
        bench.fail(.sessionEnded(epoch: 1_500))
        #expect(bench.core.record.epoch == 1_500)
        bench.step(.retryNow)
        #expect(bench.sent.map(\.kind) == [.hello(epoch: 1_501)])
    }

    /// Its file was replaced by an older one, and nobody has begun a line.
    @Test("Nothing is sent to a remote that went back")
    func olderRemote() throws {
        var record = SyncRecord()
        (record.lines, record.position, record.lastNumber, record.settledNumber) = (Self.lines, 9, 4, 4)
        for (head, last) in [(Int64(8), Int64(4)), (9, 3)] {
            var bench = Bench([write(1)], record)
            bench.step(.connected)
            let hello = try #require(bench.sent.first)
            let welcome = SyncWelcome(lines: Self.lines, head: head, lastNumber: last, results: [])
            bench.step(.answer(.welcome(welcome), to: hello.id))
            #expect(bench.core.connection == .halted(.remoteWentBack))
            #expect(bench.sent.isEmpty)
        }
    }

    /// Another backup than that whose branch was followed: its numbers stand for other writes.
    @Test("Numbers of another branch mean nothing")
    func anotherBranch() throws {
        var record = SyncRecord()
        record.lines = Self.lines + [RemoteLine(id: [2], fork: 5)]
        (record.position, record.lastNumber) = (8, 9)
        var (sending, confirmed, old) = (write(3), write(2, "b"), write(1, "c"))
        sending.state = .sending(number: 9)
        confirmed.state = .confirmed(at: 7)
        old.state = .confirmed(at: 5)
        var bench = Bench([sending, confirmed, old], record)
        bench.step(.connected)
        let hello = try #require(bench.sent.first)
        let results = [NumberedResult(number: 9, result: .rejected(.missing))]
        let lines = Self.lines + [RemoteLine(id: [3], fork: 9)]
        bench.step(
            .answer(.welcome(SyncWelcome(lines: lines, head: 9, lastNumber: 9, results: results)), to: hello.id))
        #expect(bench.saved.first?.rewind == 5)
        #expect(bench.push?.writes == [2, 3])
        #expect(bench.core.outbox.confirmed.map(\.position) == [1])
    }

    @Test("Confirmed writes that nobody kept are missed")
    func lostConfirmedWrites() throws {
        var record = SyncRecord()
        (record.lines, record.position, record.lastNumber) = (Self.lines, 9, 4)
        record.forgottenPosition = 6
        for (fork, isLost) in [(Int64(6), false), (5, true)] {
            var bench = Bench([], record)
            bench.step(.connected)
            let hello = try #require(bench.sent.first)
            let lines = Self.lines + [RemoteLine(id: [2], fork: fork)]
            bench.step(
                .answer(.welcome(SyncWelcome(lines: lines, head: fork, lastNumber: 2, results: [])), to: hello.id))
            #expect(bench.saved.first?.record.hasLostWrites == isLost)
        }
    }

    /// Pages from the beginning name what is in sight now; what was written keeps what it was made on.
    @Test("Another access is followed from the beginning")
    func anotherAccess() throws {
        var record = SyncRecord()
        (record.lines, record.position, record.access) = (Self.lines, 9, "a")
        for (access, position) in [("a", Int64(9)), (nil, 9), ("b", 0)] {
            var written = write(1)
            written.base = 4
            var bench = Bench([written], record)
            bench.step(.connected)
            let hello = try #require(bench.sent.first)
            let welcome = SyncWelcome(lines: Self.lines, head: 9, lastNumber: 0, results: [], access: access)
            bench.step(.answer(.welcome(welcome), to: hello.id))
            let saved = try #require(bench.saved.first)
            #expect(saved.restartsPull == (position == 0))
            #expect(saved.rewind == nil)
            #expect(saved.record.position == position)
            #expect(saved.record.access == access ?? "a")
            #expect(bench.core.outbox.sending.map(\.base) == [4])
        }
        // What a version of before has saved doesn't say what could be seen.
        record.access = nil
        var bench = Bench([], record)
        bench.step(.connected)
        let hello = try #require(bench.sent.first)
        let welcome = SyncWelcome(lines: Self.lines, head: 9, lastNumber: 0, results: [], access: "b")
        bench.step(.answer(.welcome(welcome), to: hello.id))
        #expect(bench.saved.first?.restartsPull == false)
        #expect(bench.core.record.position == 9)
        #expect(bench.core.record.access == "b")
    }

    /// A clock that was a year ahead when something failed, and is right again.
    @Test("A clock that was set back delays nothing")
    func clockSetBack() throws {
        var bench = Bench([write(1)])
        bench.step(.connected)
        bench.fail(.retryable(afterMicroseconds: 10_000_000))
        bench.now -= 31_536_000_000_000
        bench.step(.timer)
        #expect(try #require(bench.timer) <= bench.now + 12_000_000)
        bench.step(.retryNow)
        #expect(bench.sent.count == 1)
        bench.now -= 31_536_000_000_000
        bench.step(.timer)
        #expect(try #require(bench.timer) <= bench.now + 60_000_000)
    }

    @Test("A timer that fires early is set again")
    func earlyTimer() {
        var bench = Bench([write(1)])
        bench.step(.connected)
        bench.timer = nil
        bench.step(.timer)
        #expect(bench.sent.isEmpty)
        #expect(bench.timer == bench.now + 60_000_000)
    }

    /// An answer that comes late, after the process was started again.
    @Test("Requests of two cores have different names")
    func requestNames() {
        var bench = Bench()
        bench.step(.connected)
        var next = Bench([], bench.saved[0].record)
        next.step(.connected)
        #expect(next.sent.map(\.id) != bench.sent.map(\.id))
    }

    /// A remote that was restored from a backup has lost what this store knows to be confirmed.
    @Test("What a restored remote lost is sent again")
    func restoredRemote() throws {
        var bench = Bench([write(1), write(2)])
        bench.open()
        let pull = try #require(bench.sent.last)
        bench.answer([.applied(at: 1), .applied(at: 2)])
        bench.step(.answer(.page(SyncPage(start: 0, end: 2, changes: [])), to: pull.id))
        var third = write(3)
        third.base = 2
        bench.step(.wrote([third]))
        bench.step(.disconnected)
        bench.step(.connected)
        let hello = try #require(bench.sent.first)
        bench.step(
            .answer(
                .welcome(
                    SyncWelcome(lines: Self.lines + [RemoteLine(id: [2], fork: 1)], head: 1, lastNumber: 1, results: [])
                ), to: hello.id))
        #expect(bench.saved.first?.rewind == 1)
        #expect(bench.core.record.position == 1)
        #expect(bench.core.record.lines.count == 2)
        #expect(bench.push?.first == 2)
        #expect(bench.push?.writes == [2, 3])
        // What the writer has seen behind it, nobody has seen now.
        #expect(bench.core.outbox.pending.map(\.base) == [0, 1])
    }

    @Test("A copy of a store doesn't send under the numbers of the original")
    func copiedStore() throws {
        var bench = Bench([write(1)])
        bench.open(lastNumber: 5)
        #expect(bench.core.connection == .halted(.unknownNumbers))
        #expect(bench.sent.isEmpty)
        #expect(bench.timer == nil)
        bench.step(.connected)
        #expect(bench.sent.isEmpty)
    }

    @Test("Confirmed writes are kept up to a limit")
    func confirmedWritesLimit() throws {
        var configuration = SyncCore.Configuration()
        configuration.confirmedWrites = 2
        let rows = (1...4).map { (position: Int64) in
            var row = write(position)
            row.state = .accepted(at: position)
            return row
        }
        var core = SyncCore(record: SyncRecord(), outbox: Outbox(rows: rows), configuration: configuration)
        (core.record.lastNumber, core.record.lines) = (4, Self.lines)
        var random = PredicateGenerator(seed: 1)
        func requests(_ effects: [SyncEffect]) -> [SyncRequest] {
            effects.compactMap { if case .send(let request) = $0 { request } else { nil } }
        }
        let hello = requests(core.step(.connected, at: 0, using: &random))
        let welcome = SyncWelcome(lines: Self.lines, head: 0, lastNumber: 4, results: [])
        let pull = requests(core.step(.answer(.welcome(welcome), to: hello[0].id), at: 0, using: &random))
        let effects = core.step(
            .answer(.page(SyncPage(start: 0, end: 4, changes: [])), to: pull[0].id), at: 0, using: &random)
        guard case .save(let transaction) = effects.first else {
            Issue.record("nothing was saved")
            return
        }
        #expect(transaction.removed == [1, 2])
        #expect(transaction.writes.map(\.position) == [1, 2, 3, 4])
        #expect(core.outbox.confirmed.map(\.position) == [3, 4])
    }

    @Test("Ten thousand writes are sent in twenty batches")
    func tenThousandWrites() {
        var bench = Bench((1...10_000).map { (position: Int64) in write(position, "d\(position % 100)") })
        bench.open()
        var batches = 0
        while let push = bench.push {
            batches += 1
            bench.answer(push.writes.map { .applied(at: $0) })
        }
        #expect(batches == 20)
    }

    /// The remote takes merged writes under one number, and a refusal counts them as one.
    @Test("Merged writes have one number")
    func mergedWritesHaveOneNumber() throws {
        func patch(_ position: Int64, _ id: String = "a") -> PendingWrite {
            PendingWrite(
                position: position, document: DocumentID(entity: "notes", id: id), kind: .patch, size: 10, base: 0)
        }
        var bench = Bench([write(1), patch(2), patch(3), write(4, "b")])
        bench.open()
        #expect(bench.push?.writes == [3, 4])
        #expect(bench.saved.last?.writes.map(\.state) == [1, 1, 1, 2].map { .sending(number: $0) })
        #expect(bench.saved.last?.writes.map(\.origin) == [3, 3, 3, 4])
        #expect(bench.core.record.lastNumber == 2)
        bench.fail(.refused(.invalid("too large")))
        for isAlone in [true, false] {
            let hello = try #require(bench.sent.first)
            bench.step(
                .answer(.welcome(SyncWelcome(lines: Self.lines, head: 0, lastNumber: 0, results: [])), to: hello.id))
            if isAlone {
                #expect(bench.push?.writes == [3])
                bench.fail(.refused(.invalid("too large")))
            }
        }
        #expect(bench.core.outbox.parked.map(\.position) == [1, 2, 3])
        #expect(bench.push?.writes == [4])
    }
}
