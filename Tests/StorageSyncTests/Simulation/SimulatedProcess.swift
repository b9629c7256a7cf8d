import StorageCore

@testable import StorageSync

/// A process that drives a core: it lives until it crashes, and starts again from what was saved.
final class SimulatedProcess {
    private unowned let client: SimulatedClient
    private var simulation: Simulation { client.simulation }
    private(set) var isAlive = false
    private var isStopped = false
    /// nil where another process holds the lock.
    private(set) var core: SyncCore?
    private var revision = 0
    /// Counts lives and timers: what belongs to an earlier one isn't delivered.
    private var life = 0
    private var sends: Int64 = 0
    private var timer = 0
    /// Requests whose answers were dropped by a defect.
    private var dropped: Set<SyncRequest.ID> = []

    init(client: SimulatedClient) { self.client = client }

    func startLater() {
        simulation.time.schedule(after: .random(in: 0...10_000_000, using: &simulation.random)) { [unowned self] in
            start()
        }
    }

    func start() {
        guard !isAlive, !isStopped else { return }
        isAlive = true
        life += 1
        if simulation.defect == .losesOutboxAtRestart, life > 1 { client.store.loseOutbox() }
        if simulation.defect == .forgetsOrigins, life > 1 { client.store.forgetOrigins() }
        drive(life)
    }

    private func drive(_ life: Int) {
        guard isAlive, life == self.life, core == nil else { return }
        guard client.takeLock(self) else {
            simulation.time.schedule(after: 1_000_000) { [unowned self] in drive(life) }
            return
        }
        var configuration = SyncCore.Configuration()
        configuration.batchWrites = 5
        configuration.batchBytes = 150_000
        configuration.mergesConflicts = client.merges
        var record = client.store.record
        if simulation.defect == .forgetsDelaysAtRestart {
            (record.failures, record.delayMicroseconds, record.retryAfterMicroseconds) = (0, 0, 0)
        }
        core = SyncCore(
            record: record, outbox: Outbox(rows: Array(client.store.rows.values)), configuration: configuration)
        revision = client.store.revision
        if client.hasNetwork { handle(.connected) }
    }

    func crash() {
        guard isAlive else { return }
        simulation.count("crashes")
        stop()
        isStopped = false
        startLater()
    }

    func stop() {
        isAlive = false
        isStopped = true
        core = nil
        client.releaseLock(self)
    }

    func noticeWrites() {
        guard let core, simulation.defect != .sendsWhenItBeginsOnly else { return }
        let rows = client.store.rows.values.filter { $0.position > core.outbox.lastPosition }
        handle(.wrote(rows.sorted { $0.position < $1.position }))
    }

    func handle(_ input: SyncInput) {
        guard isAlive, var core else { return }
        let now = simulation.time.now + client.clockOffset
        let effects = core.step(input, at: now, using: &simulation.random)
        self.core = core
        checkLiveness(core, at: now)
        for effect in effects {
            if simulation.isTroubled, simulation.chance(200) { return crash() }
            guard perform(effect, at: now, after: effects) else { return }
        }
    }

    /// - Returns: Whether the process continues.
    private func perform(_ effect: SyncEffect, at now: Int64, after effects: [SyncEffect]) -> Bool {
        switch effect {
        case .save(let transaction):
            if simulation.defect == .sendsBeforeSaving, simulation.isTroubled, simulation.chance(8) {
                for case .send(let request) in effects { send(request) }
                crash()
                return false
            }
            return save(transaction, at: now)
        case .send(let request): send(request)
        case .setTimer(let date):
            timer += 1
            guard let date, simulation.defect != .losesTimers || !simulation.chance(4) else { return true }
            simulation.time.schedule(after: date - now) { [unowned self, timer, life] in
                if timer == self.timer, life == self.life, !isWaitingForDropped { handle(.timer) }
            }
        }
        return true
    }

    private func save(_ transaction: SyncTransaction, at now: Int64) -> Bool {
        var transaction = transaction
        let (rows, before) = (client.store.rows, client.store.record)
        for write in transaction.writes where write.isParked {
            simulation.count("parked")
            if write.state == .parked(.unknown) { simulation.find("the outcome of \(write.position) isn't known") }
        }
        let beginsAgain = spoil(&transaction)
        var later: [RemoteChange] = []
        if simulation.defect == .savesPositionBeforeChanges { swap(&later, &transaction.changes) }
        guard client.store.save(transaction, at: revision) else {
            // Another process has saved since: this one begins again from that.
            simulation.count("conflicts")
            crash()
            return false
        }
        revision = client.store.revision
        // A session is asked for in the transaction that takes its epoch.
        if transaction.record.epoch > before.epoch, now < before.retryTime, !client.mayAskAtOnce {
            simulation.find("client \(client.number) asks before its delay is over")
        }
        if transaction.record.retryTime > now { client.mayAskAtOnce = false }
        for write in transaction.writes where transaction.record.lines == before.lines {
            // What it was made on is true as long as the hub hasn't lost it: it would be refused for what it knew.
            if let before = rows[write.position], write.base < before.base {
                simulation.find("the write at \(write.position) lost what it was made on")
            }
        }
        for document in transaction.conflicts { simulation.merge(document, of: client) }
        for position in transaction.removed where rows[position]?.isParked == true {
            simulation.discarded.insert(.init(client: client.number, position: position))
        }
        if !later.isEmpty {
            if simulation.isTroubled, simulation.chance(4) {
                crash()
                return false
            }
            client.store.applyLate(later)
        }
        guard beginsAgain else { return true }
        core = nil
        drive(life)
        return false
    }

    /// Does to a transaction what a defect does.
    /// - Returns: Whether the core has to begin again from what is saved then: it knows what was meant to be.
    private func spoil(_ transaction: inout SyncTransaction) -> Bool {
        let (rows, record) = (client.store.rows.values, client.store.record)
        var lost: [PendingWrite] = []
        switch simulation.defect {
        case .dropsRejectedWrites: transaction.removed += transaction.writes.filter(\.isParked).map(\.position)
        case .skipsConflictingChanges:
            let waiting = Set(rows.filter { !$0.isConfirmed }.map(\.document))
            transaction.changes.removeAll { $0.isForeign && waiting.contains($0.document) }
        case .rewindsInTwoTransactions where transaction.rewind != nil:
            transaction.writes = []
            return true
        case .keepsPositionsOfOtherBranches where transaction.rewind != nil:
            transaction.rewind = nil
            transaction.record.position = record.position
            return true
        case .confirmsWhatWasNotSent:
            let taken = Set(transaction.writes.filter { $0.remotePosition != nil }.map(\.document))
            lost = rows.filter { $0.state == .waiting && taken.contains($0.document) }
        case .fetchesOverWaitingWrites where record.position == 0:
            let fetched = Set(transaction.changes.filter(\.isForeign).map(\.document))
            lost = rows.filter { $0.state == .waiting && fetched.contains($0.document) }
        default: break
        }
        transaction.removed += lost.map(\.position)
        return !lost.isEmpty
    }

    private func send(_ request: SyncRequest) {
        var writes: [HubWrite] = []
        if simulation.defect == .parkedWritesBlockPulls, !client.parked.isEmpty, case .pull = request.kind { return }
        if case .push(let epoch, let line, let first, let origins) = request.kind {
            writes = client.store.hubWrites(origins)
            simulation.count(
                "merged", client.store.rows.values.count { $0.isMerged && origins.contains($0.remoteName) })
            if simulation.defect == .parkedWritesBlockAll, !client.parked.isEmpty { return }
            if simulation.defect == .namesWritesByIndex {
                let pending = client.store.rows.values.filter { !$0.isConfirmed }.map(\.position).sorted()
                writes = writes.map { $0.withOrigin(Int64(pending.firstIndex(of: $0.origin) ?? 0) + 1) }
            }
            if simulation.defect == .reordersBatches { writes.reverse() }
            if simulation.defect == .statesALaterBase {
                writes = writes.map { $0.withBase(client.store.record.position) }
            }
            if simulation.defect == .sendsAgainUnderNewNumbers || simulation.defect == .hubDoesNotFence {
                // Nor do writes have an id that stays.
                sends += 1
                writes = writes.map { $0.withOrigin($0.origin + sends * 1_000_000) }
            }
            if simulation.defect == .sendsAgainUnderNewNumbers {
                let again = SyncRequest.Kind.push(
                    epoch: epoch, line: line, firstNumber: first + Int64(origins.count), writes: origins)
                simulation.time.schedule(after: 4_000_000) { [unowned self, life, writes] in
                    guard life == self.life, case .open(let session) = core?.connection,
                        session.push?.request == request.id
                    else { return }
                    deliver(again, writes, of: request.id)
                }
            }
        }
        deliver(request.kind, writes, of: request.id)
        if simulation.isTroubled, simulation.chance(10) { deliver(request.kind, writes, of: request.id) }
    }

    private var delay: Int64 {
        let longest: Int64 = simulation.isTroubled ? simulation.pick([20_000, 500_000, 20_000_000]) : 50_000
        return .random(in: 1_000...longest, using: &simulation.random)
    }

    private func deliver(_ kind: SyncRequest.Kind, _ writes: [HubWrite], of id: SyncRequest.ID) {
        guard client.hasNetwork, !client.losesRequests, !simulation.isTroubled || !simulation.chance(12) else { return }
        let reply: SimulatedHub.Reply = { [unowned self, life] answer in
            guard client.hasNetwork, !client.losesAnswers, !simulation.isTroubled || !simulation.chance(12) else {
                return
            }
            for _ in 0..<(simulation.isTroubled && simulation.chance(10) ? 2 : 1) {
                simulation.time.schedule(after: delay) { [unowned self] in
                    // A socket ends with its process; what it was answered goes to nobody else.
                    guard life == self.life else { return }
                    if case .failure(.sessionEnded) = answer {
                        if simulation.defect == .takesDisorderForFatal { core = nil }
                        if simulation.defect == .dropsRequestsOfEndedSessions {
                            dropped.insert(id)
                            return
                        }
                    }
                    switch answer {
                    case .success(let answer): handle(.answer(answer, to: id))
                    case .failure(let failure): handle(.failure(failure, of: id))
                    }
                }
            }
        }
        simulation.time.schedule(after: delay) { [unowned self] in
            guard simulation.hub.isUp else { return }
            if simulation.isTroubled, simulation.chance(25) {
                simulation.count("busy hub")
                return reply(.failure(.retryable(afterMicroseconds: simulation.chance(2) ? 5_000_000 : nil)))
            }
            let held = simulation.hub.take(
                kind, writes, from: client.producer, fences: simulation.defect != .hubDoesNotFence, reply: reply)
            guard let held else { return }
            simulation.time.schedule(after: 25_000_000) { [unowned self] in simulation.hub.release(held) }
        }
    }

    private var isWaitingForDropped: Bool {
        switch core?.connection {
        case .handshake(let flight): dropped.contains(flight.request)
        case .open(let session): !dropped.isDisjoint(with: [session.push, session.pull].compactMap { $0?.request })
        default: false
        }
    }

    /// What waits has a timer, a request under way, or a reason that somebody can see.
    private func checkLiveness(_ core: SyncCore, at now: Int64) {
        switch core.connection {
        case .offline, .unauthorized, .handshake: break
        case .halted(let reason): simulation.find("client \(client.number) has halted: \(reason)")
        case .closed:
            if core.record.retryTime > now + 65_000_000 { simulation.find("a delay is longer than a minute") }
        case .open(let session):
            if session.pull == nil, session.pullTime <= now { simulation.find("client \(client.number) doesn't pull") }
            if session.push == nil, core.outbox.hasSendable { simulation.find("client \(client.number) doesn't push") }
        }
    }
}

extension PendingWrite {
    /// Whether it is sent as a part of a later write.
    fileprivate var isMerged: Bool { remoteName != position }
}
