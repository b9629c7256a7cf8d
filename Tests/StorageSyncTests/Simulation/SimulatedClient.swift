import StorageCore

@testable import StorageSync

/// One store, the processes that use it, and their way to the hub.
final class SimulatedClient {
    let number: Int
    let store: SimulatedStore
    private(set) var processes: [SimulatedProcess] = []
    /// Whether one process at a time drives the synchronisation. Without, what is saved must keep them from doing harm.
    let isLocked: Bool
    /// Whether it merges what was changed on both sides.
    let merges: Bool
    unowned let simulation: Simulation
    private(set) var hasNetwork = true
    var losesRequests = false
    var losesAnswers = false
    var clockOffset: Int64 = 0
    /// Whether a delay may be over before its time: the network has come back since it began, or the clock was set.
    var mayAskAtOnce = false
    /// The process that holds the lock.
    private(set) weak var lockHolder: SimulatedProcess?

    init(
        number: Int, processes count: Int, isLocked: Bool, merges: Bool, isOld: Bool, simulation: Simulation
    ) {
        store = SimulatedStore(unknownField: isOld ? "c" : nil)
        self.number = number
        self.isLocked = isLocked
        self.merges = merges
        self.simulation = simulation
        processes = (0..<count).map { _ in SimulatedProcess(client: self) }
    }

    var producer: ProducerID { ProducerID("\(number)") }
    var parked: [PendingWrite] { store.rows.values.filter(\.isParked).sorted { $0.position < $1.position } }
    /// A process that drives the synchronisation.
    var owner: SimulatedProcess? { processes.first { $0.core != nil } }

    func takeLock(_ process: SimulatedProcess) -> Bool {
        guard isLocked else { return true }
        guard lockHolder == nil || lockHolder === process else { return false }
        lockHolder = process
        return true
    }

    func releaseLock(_ process: SimulatedProcess) { if lockHolder === process { lockHolder = nil } }

    func setNetwork(_ isThere: Bool) {
        hasNetwork = isThere
        mayAskAtOnce = mayAskAtOnce || isThere
        if isThere, simulation.defect == .losesReconnections { return }
        for process in processes { process.handle(isThere ? .connected : .disconnected) }
    }

    func heal() {
        losesRequests = false
        losesAnswers = false
        // Two that don't lock end each other's sessions as long as both run.
        if !isLocked { for process in processes.dropFirst() { process.stop() } }
        // Clients that have a network get no `connected`: what waits must have a timer of its own.
        if !hasNetwork { setNetwork(true) }
        for process in processes where !process.isAlive && (isLocked || process === processes[0]) { process.start() }
    }
}
