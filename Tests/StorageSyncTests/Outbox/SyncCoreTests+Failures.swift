import Foundation
import PredicateTestSupport
import StorageCore
import Testing

@testable import StorageSync

/// When it asks again, and whom it no longer asks.
extension SyncCoreTests {
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

    /// The remote has seen none of the batch, so its numbers are free.
    @Test("Writes that can't be sent are parked, and the others are sent")
    func unsentBatch() throws {
        var bench = Bench([write(1, "a"), write(2, "b"), write(3, "c"), write(4, "d")])
        bench.open()
        let push = try #require(bench.push)
        let unsendable: [Int64: UnsendableWrite] = [
            2: UnsendableWrite(reason: "infinite"), 3: UnsendableWrite(reason: "too"),
        ]
        bench.step(.answer(.unsent(unsendable), to: push.id))
        #expect(bench.sent.map(\.kind) == [.hello(epoch: 2)])
        let hello = try #require(bench.sent.first)
        bench.step(
            .answer(.welcome(SyncWelcome(lines: Self.lines, head: 0, lastNumber: 0, results: [])), to: hello.id))
        #expect(bench.core.outbox.parked.map(\.state) == [.parked(.invalid("infinite")), .parked(.invalid("too"))])
        #expect(bench.core.outbox.parked.map(\.position) == [2, 3])
        #expect(bench.push?.writes == [1, 4])
        #expect(bench.push?.first == 1)
    }

    /// A core that has pulled up to 5, in the session after it was reported that some of its writes can't be sent.
    private func unsent(_ writes: [PendingWrite], _ unsendable: [Int64: UnsendableWrite]) throws -> Bench {
        var record = SyncRecord()
        (record.lines, record.position) = (Self.lines, 5)
        var bench = Bench(writes, record)
        bench.open()
        try report(unsendable, to: &bench)
        return bench
    }

    /// Reports that some writes of a push can't be sent, and begins the next session.
    private func report(_ unsendable: [Int64: UnsendableWrite], to bench: inout Bench) throws {
        let push = try #require(bench.push)
        bench.step(.answer(.unsent(unsendable), to: push.id))
        let hello = try #require(bench.sent.first)
        let last = bench.core.record.settledNumber
        bench.step(
            .answer(.welcome(SyncWelcome(lines: Self.lines, head: 5, lastNumber: last, results: [])), to: hello.id))
    }

    /// A core whose first and third write can't be sent, and that has sent the second one, of another document.
    private func unsentTwice() throws -> Bench {
        var bench = try unsent(
            [write(1), write(2, "b"), write(3)],
            [1: UnsendableWrite(reason: "infinite"), 3: UnsendableWrite(reason: "too")])
        #expect(bench.push?.writes == [2])
        bench.answer([.applied(at: 6)])
        return bench
    }

    @Test("Of two writes of a document that can't be sent, the later one waits")
    func unsentBehindParked() throws {
        let bench = try unsentTwice()
        #expect(bench.core.outbox.parked.map(\.position) == [1])
        #expect(!bench.core.outbox.hasSendable)
    }

    @Test("Two writes of a document that can't be sent are sent with their correction once the parked one is retried")
    func retryingUnsentTwice() throws {
        var bench = try unsentTwice()
        bench.step(.wrote([write(4)]))
        bench.step(.retry(position: 1))
        let problem = UnsendableWrite(reason: "infinite", correction: 4)
        try report([1: problem, 3: problem], to: &bench)
        #expect(bench.core.outbox.parked.isEmpty)
        #expect(bench.push?.writes == [4])
        #expect(bench.core.outbox.pending.map(\.origin) == [4, 2, 4, 4])
    }

    @Test("Once the parked one of two writes that can't be sent is discarded, the other is sent with its correction")
    func discardingUnsentTwice() throws {
        var bench = try unsentTwice()
        bench.step(.wrote([write(4)]))
        bench.step(.discard(position: 1))
        try report([3: UnsendableWrite(reason: "too", correction: 4)], to: &bench)
        #expect(bench.core.outbox.parked.isEmpty)
        #expect(bench.push?.writes == [4])
        #expect(bench.core.outbox.pending.map(\.origin) == [2, 4, 4])
    }

    @Test("Once the parked one of two writes that can't be sent is discarded, the other is parked without a correction")
    func discardingUncorrected() throws {
        var bench = try unsentTwice()
        bench.step(.discard(position: 1))
        try report([3: UnsendableWrite(reason: "too")], to: &bench)
        #expect(bench.core.outbox.parked.map(\.state) == [.parked(.invalid("too"))])
        #expect(bench.core.outbox.parked.map(\.position) == [3])
    }

    @Test("A write that can't be sent is sent as one with its correction")
    func unsentAndCorrected() throws {
        let bench = try unsent(
            [write(1), write(2, "b"), write(3), write(4)], [1: UnsendableWrite(reason: "infinite", correction: 4)])
        #expect(bench.core.outbox.parked.isEmpty)
        #expect(bench.push?.writes == [2, 4])
        #expect(bench.core.outbox.pending.map(\.origin) == [4, 2, 4, 4])
        #expect(bench.saved.first?.writes.map(\.origin) == [4, 2, 4, 4])
    }

    /// The other writer may have deleted the document and created another one.
    @Test("A write and its correction are based on what the write is based on")
    func laterCorrection() throws {
        let later = PendingWrite(
            position: 2, document: DocumentID(entity: "notes", id: "a"), kind: .patch, size: 10, base: 5)
        let bench = try unsent([write(1), later], [1: UnsendableWrite(reason: "infinite", correction: 2)])
        #expect(bench.push?.writes == [2])
        #expect(bench.core.outbox.pending.map(\.base) == [0, 0])
    }

    @Test("A conditional write and its correction are based on what the write is based on")
    func conditionalCorrection() throws {
        var writes = [write(1), write(2)]
        writes[1].base = 5
        for index in writes.indices { writes[index].isConditional = true }
        let bench = try unsent(writes, [1: UnsendableWrite(reason: "infinite", correction: 2)])
        #expect(bench.push?.writes == [2])
        #expect(bench.core.outbox.pending.map(\.base) == [0, 0])
    }

    /// The remote judges them differently.
    @Test("A write that can't be sent is parked if its correction is conditional and it isn't")
    func otherCorrection() throws {
        var writes = [write(1), write(2)]
        writes[1].isConditional = true
        let bench = try unsent(writes, [1: UnsendableWrite(reason: "infinite", correction: 2)])
        #expect(bench.core.outbox.parked.map(\.position) == [1])
        #expect(bench.push == nil)
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

    @Test("Lost confirmed writes are noticed")
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

    /// Both copies have numbered a write in the same way, and the hub has applied that of the other one.
    @Test("An outcome of another session isn't that of an own write")
    func outcomeOfCopy() throws {
        for session in [SyncSession(epoch: 2, line: [1]), SyncSession(epoch: 1, line: [2])] {
            var bench = Bench([write(1)])
            bench.open()
            bench.fail(.sessionEnded(epoch: 2))
            bench.now = bench.core.record.retryTime
            bench.step(.timer)
            let hello = try #require(bench.sent.first)
            let results = [NumberedResult(number: 1, result: .applied(at: 7))]
            let welcome = SyncWelcome(
                lines: Self.lines, head: 7, lastNumber: 1, results: results, lastSession: session)
            bench.step(.answer(.welcome(welcome), to: hello.id))
            #expect(bench.core.connection == .halted(.unknownNumbers))
            #expect(bench.core.outbox.pending.map(\.state) == [.sending(number: 1)])
            #expect(bench.saved.allSatisfy { $0.writes.isEmpty && $0.removed.isEmpty })
        }
    }

    /// The remote has applied the first write, in the first session.
    private static let welcomeBehindFirst = SyncWelcome(
        lines: lines, head: 7, lastNumber: 1, results: [NumberedResult(number: 1, result: .applied(at: 7))],
        lastSession: SyncSession(epoch: 1, line: [1]))

    @Test("An outcome of what an earlier version has sent is that of the own write")
    func outcomeOfEarlierVersion() throws {
        var bench = Bench([write(1)])
        bench.open()
        var record = try #require(bench.saved.last?.record)
        record.lastSession = nil
        var next = Bench(Array(bench.core.outbox.pending), record)
        next.step(.connected)
        let hello = try #require(next.sent.first)
        let welcome = Self.welcomeBehindFirst
        next.step(.answer(.welcome(welcome), to: hello.id))
        #expect(next.core.outbox.pending.map(\.state) == [.accepted(at: 7)])
    }

    /// A copy of the process has sent them, in the session of both.
    @Test("A store whose numbers were used for other writes halts at each hello")
    func reusedNumbers() throws {
        var bench = Bench([write(1)])
        bench.open()
        let own = SyncSession(epoch: 1, line: [1])
        #expect(bench.core.record.lastSession == own)
        bench.fail(.numberReused)
        #expect(bench.core.connection == .closed)
        let record = try #require(bench.saved.last?.record)
        let results = [NumberedResult(number: 1, result: .applied(at: 7))]
        let welcome = SyncWelcome(lines: Self.lines, head: 7, lastNumber: 1, results: results, lastSession: own)
        for _ in 0..<2 {
            var next = Bench(Array(bench.core.outbox.pending), record)
            next.now = record.retryTime
            next.step(.connected)
            let hello = try #require(next.sent.first)
            #expect(hello.kind == .hello(epoch: 2))
            next.step(.answer(.welcome(welcome), to: hello.id))
            #expect(next.core.connection == .halted(.unknownNumbers))
            #expect(next.core.outbox.pending.map(\.state) == [.sending(number: 1)])
        }
    }

    @Test("A copy of a running store that has sent several batches halts the other", arguments: 1...3)
    func batchesOfCopy(batches: Int64) throws {
        let producer = ProducerID("one")
        var hub = MemoryHub(line: [1])
        func welcome(_ bench: inout Bench) throws {
            let hello = try #require(bench.sent.first)
            guard case .hello(let epoch) = hello.kind else { return }
            bench.step(.answer(.welcome(try hub.hello(from: producer, epoch: epoch).get()), to: hello.id))
        }
        func send(_ bench: inout Bench, to id: String) throws {
            let push = try #require(bench.push)
            let writes = push.writes.map {
                HubWrite(origin: $0, document: write($0, id).document, operation: .save(["a": .integer($0)]), base: 0)
            }
            let batch = HubBatch(
                producer: producer, epoch: bench.core.record.epoch, line: [1], firstNumber: push.first, writes: writes)
            switch hub.push(batch) {
            case .success(let results): bench.step(.answer(.pushed(results), to: push.id))
            case .failure(let failure): bench.step(.failure(failure, of: push.id))
            }
        }
        var own = Bench()
        own.step(.connected)
        try welcome(&own)
        var copy = own
        for position in 1...batches {
            copy.step(.wrote([write(position, "copy")]))
            try send(&copy, to: "copy")
        }
        own.step(.wrote([write(1, "own"), write(2, "other")]))
        try send(&own, to: "own")
        #expect(own.core.connection == .closed)
        own.now = own.core.record.retryTime
        own.step(.timer)
        try welcome(&own)
        #expect(own.core.connection == .halted(.unknownNumbers))
        #expect(own.core.outbox.pending.map(\.state) == [.sending(number: 1), .sending(number: 2)])
        #expect(hub.documents.keys.map(\.id) == ["copy"])
    }

    private func page(of write: PendingWrite) -> SyncPage {
        SyncPage(
            start: 0, end: 4,
            changes: [
                RemoteChange(position: 4, document: write.document, operation: .delete, ownOrigin: write.position)
            ])
    }

    @Test("A page that reports a write being sent waits for the answer to the push")
    func pageBeforeAnswer() throws {
        var bench = Bench([write(1)])
        bench.open()
        let push = try #require(bench.push)
        let pull = try #require(bench.sent.last)
        let page = page(of: write(1))
        bench.step(.answer(.page(page), to: pull.id))
        #expect(bench.saved.isEmpty)
        #expect(bench.sent.isEmpty)
        #expect(bench.core.record.position == 0)
        bench.step(.answer(.pushed([NumberedResult(number: 1, result: .applied(at: 4))]), to: push.id))
        #expect(bench.saved.map(\.changes) == [[], page.changes])
        #expect(bench.core.outbox.confirmed.map(\.state) == [.confirmed(at: 4)])
        #expect(bench.core.record.position == 4)
        #expect(bench.sent.map(\.kind) == [.pull(line: [1], position: 4)])
    }

    @Test("While a page waits for the answer to the push, only the push can be late")
    func deadlineOfPushBehindPage() throws {
        var bench = Bench()
        bench.open()
        let pull = try #require(bench.sent.last)
        let start = bench.now
        #expect(bench.timer == start + 60_000_000)
        bench.now = start + 24_000_000
        bench.step(.wrote([write(1)]))
        let push = try #require(bench.push)
        bench.now = start + 25_000_000
        bench.step(.answer(.page(page(of: write(1))), to: pull.id))
        #expect(bench.timer == start + 84_000_000)
        bench.now = start + 60_000_000
        bench.step(.timer)
        #expect(bench.timer == start + 84_000_000)
        var late = bench
        late.now = start + 84_000_000
        late.step(.timer)
        #expect(late.core.connection == .closed)
        bench.now = start + 65_000_000
        bench.step(.answer(.pushed([NumberedResult(number: 1, result: .applied(at: 4))]), to: push.id))
        #expect(bench.core.outbox.confirmed.map(\.state) == [.confirmed(at: 4)])
        #expect(bench.core.record.failures == 0)
        #expect(bench.sent.map(\.kind) == [.pull(line: [1], position: 4)])
    }

    /// It has the origin of a write of this store, which the remote doesn't have.
    @Test("A page with the write of a copy confirms nothing")
    func pageOfCopy() throws {
        var sending = Bench([write(1)])
        sending.open()
        let push = try #require(sending.push)
        let pull = try #require(sending.sent.last)
        sending.step(.answer(.page(page(of: write(1))), to: pull.id))
        sending.step(.failure(.sessionEnded(epoch: 2), of: push.id))
        #expect(sending.core.connection == .closed)
        #expect(sending.core.outbox.pending.map(\.state) == [.sending(number: 1)])
        #expect(sending.core.record.position == 0)
        #expect(sending.saved.allSatisfy { $0.changes.isEmpty })
        var unsent = Bench([write(1), write(2, "b")], batchWrites: 1)
        unsent.open()
        #expect(unsent.push?.writes == [1])
        let other = try #require(unsent.sent.last)
        unsent.step(.answer(.page(page(of: write(2, "b"))), to: other.id))
        #expect(unsent.core.connection == .closed)
        #expect(unsent.core.outbox.pending.map(\.state) == [.sending(number: 1), .waiting])
        #expect(unsent.core.record.position == 0)
    }

    @Test("An outcome of the own session is that of the own write")
    func outcomeOfOwnSession() throws {
        var bench = Bench([write(1)])
        bench.open()
        #expect(bench.saved.last?.record.lastSession == SyncSession(epoch: 1, line: [1]))
        var next = Bench(Array(bench.core.outbox.pending), try #require(bench.saved.last?.record))
        next.step(.connected)
        let hello = try #require(next.sent.first)
        #expect(hello.kind == .hello(epoch: 2))
        let welcome = Self.welcomeBehindFirst
        next.step(.answer(.welcome(welcome), to: hello.id))
        #expect(next.core.outbox.pending.map(\.state) == [.accepted(at: 7)])
        // Known outcomes may be of any session: the next batch of this store was lost.
        next.step(.wrote([write(2, "b")]))
        #expect(next.push?.first == 2)
        next.step(.disconnected)
        next.step(.connected)
        let last = try #require(next.sent.first)
        next.step(.answer(.welcome(welcome), to: last.id))
        #expect(next.push?.first == 2)
    }

    /// What earlier versions have stored names no session.
    @Test("Earlier records and hubs name no session")
    func recordsWithoutSession() throws {
        let record = try JSONDecoder().decode(
            SyncRecord.self,
            from: Data(
                #"{"epoch":3,"lastNumber":4,"settledNumber":4,"lines":[{"id":[1],"fork":0}],"position":9,"forgottenPosition":0,"hasLostWrites":false,"failures":0,"failureTime":0,"delayMicroseconds":0,"retryAfterMicroseconds":0}"#
                    .utf8))
        #expect(record.lastSession == nil)
        let known = try JSONDecoder().decode(
            WriteDeduplication.self,
            from: Data(
                #"{"epoch":3,"lastNumber":4,"lastOrigin":7,"results":[{"number":4,"result":{"blocked":{}}}]}"#.utf8))
        #expect(known.lastSession == nil)
        let batch = HubBatch(producer: ProducerID("p"), epoch: 3, line: [1], firstNumber: 4, writes: [])
        #expect(known.admits(batch) == .repeated([NumberedResult(number: 4, result: .blocked)]))
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
