import PredicateTestSupport
import StorageCore

@testable import StorageSync

/// Clients and a hub in one thread and in virtual time: what happens is decided by the seed alone.
///
/// While it is troubled, messages are lost, delivered twice, late and out of order, directions are cut, processes die between
/// any two effects, clocks jump, versions of the program that know fewer fields are replaced, and the hub restarts or goes on from an
/// older backup. Then it heals, and has some minutes to come to rest.
final class Simulation {
    struct WriteID: Hashable {
        let client: Int
        let position: Int64
    }

    let defect: PlantedDefect?
    var random: PredicateGenerator
    var time = VirtualTime(startingAt: 1_800_000_000_000_000)
    var hub: SimulatedHub
    private(set) var clients: [SimulatedClient] = []
    private(set) var isTroubled = true
    /// Each write whose transaction was committed.
    private(set) var accepted: [WriteID: DocumentID] = [:]
    /// What conditional writes were made on, as a position of the hub.
    private var bases: [WriteID: Int64] = [:]
    /// Those that somebody gave up after they had been parked.
    var discarded: Set<WriteID> = []
    private(set) var findings: [String] = []
    /// What has happened, by kind: a run in which nothing did shows nothing.
    var counts: [String: Int] = [:]

    init(seed: UInt64, clients count: Int, writes: Int, defect: PlantedDefect? = nil) {
        self.defect = defect
        random = PredicateGenerator(seed: seed)
        hub = SimulatedHub()
        clients = (0..<count).map { number in
            SimulatedClient(
                number: number, processes: chance(3) ? 2 : 1, isLocked: !chance(4), merges: chance(3), isOld: chance(3),
                simulation: self)
        }
        for client in clients { for process in client.processes { process.startLater() } }
        for _ in 0..<writes {
            let client = pick(clients)
            time.schedule(after: .random(in: 0...90_000_000, using: &random)) { [unowned self] in write(to: client) }
        }
        for _ in 0..<count * 4 + 4 {
            time.schedule(after: .random(in: 0...100_000_000, using: &random)) { [unowned self] in trouble() }
        }
    }

    func find(_ finding: String) { findings.append(finding) }
    func count(_ kind: String, _ number: Int = 1) { counts[kind, default: 0] += number }
    func chance(_ of: UInt64) -> Bool { random.next() % of == 0 }
    func pick<T>(_ choices: [T]) -> T { choices[Int(random.next() % UInt64(choices.count))] }

    func run() {
        run(microseconds: 120_000_000)
        heal()
        // A request that has no answer, the longest delay, and what a session needs.
        run(microseconds: 200_000_000)
        checkThatNothingWaits()
        // What was parked is discarded when it is seen; what waited behind it may be parked in turn.
        for _ in 0..<20 where findings.isEmpty {
            let parked = clients.flatMap { client in client.parked.map { (client, $0) } }
            guard !parked.isEmpty else { break }
            for (client, write) in parked { client.owner?.handle(.discard(position: write.position)) }
            run(microseconds: 200_000_000)
        }
        checkThatNothingWaits()
        checkThatAllAreEqual()
    }

    private func run(microseconds: Int64) {
        let end = time.now + microseconds
        while findings.isEmpty, let action = time.next(before: end) { action() }
    }

    private func heal() {
        isTroubled = false
        hub.isUp = true
        for client in clients { client.heal() }
    }

    private func write(to client: SimulatedClient) {
        guard isTroubled, client.processes.contains(where: \.isAlive) else { return }
        let document = DocumentID(entity: "notes", id: "n\(random.next() % 6)")
        repeat { write(operation(on: document, of: client), to: document, client) } while chance(3)
        for process in client.processes {
            time.schedule(after: .random(in: 0...50_000, using: &random)) { process.noticeWrites() }
        }
    }

    /// What a closure does that is asked what becomes of both changes.
    func merge(_ document: DocumentID, of client: SimulatedClient) {
        guard client.store.pulled[document] != nil, client.store.visible[document] != nil else { return }
        count("merged conflicts")
        let field = client.store.unknownField == "c" ? "a" : "c"
        let columns: [String: StorageValue] = [field: .integer(client.store.nextPosition % 13), tag(of: client): .null]
        write(.patch(columns), to: document, client)
        for process in client.processes { time.schedule(after: 0) { process.noticeWrites() } }
    }

    /// Tells what a hub's event is made of.
    private func tag(of client: SimulatedClient) -> String { "\(client.number).\(client.store.nextPosition)" }

    private func operation(on document: DocumentID, of client: SimulatedClient) -> WriteOperation {
        let columns: [String: StorageValue] = [
            pick(["a", "b", "c"].filter { $0 != client.store.unknownField }): .integer(Int64(random.next() % 14)),
            "by": .text("\(client.number)"),
            tag(of: client): .null,
        ]
        return switch random.next() % 8 {
        case 0: .delete
        case 1: .save(columns)
        default: client.store.visible[document] == nil ? .save(columns) : .patch(columns)
        }
    }

    private func write(_ operation: WriteOperation, to document: DocumentID, _ client: SimulatedClient) {
        count(operation == .delete ? "deletions" : "writes")
        let write = client.store.write(
            operation, to: document, size: Int(random.next() % 100_000), isConditional: client.merges || chance(3),
            as: defect == .mergesAcrossDeletions && operation == .delete ? .patch : nil)
        let id = WriteID(client: client.number, position: write.position)
        accepted[id] = document
        // A client that merges makes it on something later, where there is a conflict.
        if write.isConditional, !client.merges { bases[id] = write.base }
        if defect == .losesDeletions, operation == .delete { client.store.drop(write.position) }
    }

    private func trouble() {
        guard isTroubled else { return }
        let client = pick(clients)
        switch random.next() % 9 {
        case 0:
            count("hub restarts")
            hub.isUp = false
            time.schedule(after: .random(in: 0...10_000_000, using: &random)) { [unowned self] in hub.isUp = true }
        case 1: hub.backup()
        case 2:
            if hub.restore(keepingLine: defect == .hubKeepsItsLine, random: random.next()) { count("hub restorations") }
        case 3:
            count("cut directions")
            client.losesRequests = chance(2)
            client.losesAnswers = !client.losesRequests
        case 4: client.setNetwork(!client.hasNetwork)
        case 5:
            count("clock jumps")
            client.mayAskAtOnce = true
            client.clockOffset += .random(in: -31_536_000_000_000...31_536_000_000_000, using: &random)
        case 6: pick(client.processes).crash()
        case 7:
            guard client.store.unknownField != nil else { return }
            count("upgrades")
            client.store.upgrade()
            if defect == .losesOutboxAtUpgrade { client.store.loseOutbox() }
            for process in client.processes { process.crash() }
        default:
            guard let write = client.parked.first else { return }
            // Sent again, it is made on what was pulled.
            for row in client.parked where row.remoteName == write.remoteName {
                bases[WriteID(client: client.number, position: row.position)]? = client.store.record.position
            }
            client.owner?.handle(chance(2) ? .retry(position: write.position) : .discard(position: write.position))
        }
    }

    // MARK: What must hold

    private func checkThatNothingWaits() {
        for client in clients {
            var parked: Set<DocumentID> = []
            for write in client.store.rows.values.sorted(by: { $0.position < $1.position }) where !write.isConfirmed {
                if write.isParked { parked.insert(write.document) }
                if client.merges, case .parked(.conflict) = write.state {
                    find("the conflict at \(write.position) stays")
                }
                guard !parked.contains(write.document) else { continue }
                let connection = client.owner?.core.map { "\($0.connection)" } ?? "no process"
                find("client \(client.number): the write at \(write.position) is still \(write.state); \(connection)")
            }
        }
    }

    private func checkThatAllAreEqual() {
        var applied: Set<WriteID> = []
        var last: [String: Int64] = [:]
        var changes: [DocumentID: [(position: Int64, client: Int)]] = [:]
        for (event, place) in zip(hub.hub.events, Int64(1)...) {
            guard let client = Int(event.producer.value) else { continue }
            for position in event.positions(of: client) {
                guard let base = bases[WriteID(client: client, position: position)] else { continue }
                if changes[event.write.document]?.contains(where: { $0.client != client && $0.position > base }) == true
                {
                    find("the write at \(position) of client \(client) was applied on something that it didn't expect")
                }
            }
            changes[event.write.document, default: []].append((place, client))
            let key = "\(client) \(event.write.document.id)"
            for position in event.positions(of: client) {
                if !applied.insert(WriteID(client: client, position: position)).inserted {
                    find("the write at \(position) of client \(client) was applied twice")
                }
                if position <= last[key, default: 0] {
                    find("the write at \(position) of client \(client) came after \(last[key, default: 0])")
                }
                last[key] = position
            }
        }
        for id in accepted.keys where !applied.contains(id) && !discarded.contains(id) {
            find("the write at \(id.position) of client \(id.client) is lost")
        }
        for id in discarded where applied.contains(id) { find("the write at \(id.position) was given up and applied") }
        for client in clients {
            let unknown = client.store.unknownField
            if client.store.pulled != hub.hub.documents.mapValues({ $0.filter { $0.key != unknown } }) {
                find("client \(client.number) isn't equal to the hub")
            }
            if client.store.visible != client.store.pulled { find("client \(client.number) shows something else") }
        }
    }
}

extension MemoryHub.Event {
    /// Of the writes that it is made of, in order.
    fileprivate func positions(of client: Int) -> [Int64] {
        if write.operation == .delete { return [write.origin % 1_000_000] }
        return write.operation.columns.keys.compactMap { name in
            name.hasPrefix("\(client).") ? Int64(name.split(separator: ".")[1]) : nil
        }.sorted()
    }
}
