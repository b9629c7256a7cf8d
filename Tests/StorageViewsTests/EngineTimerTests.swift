import GRDB
import StorageCore
import StorageEntities
import Synchronization
import TestSupport
import Testing

@testable import StorageLog
@testable import StorageRouting
@testable import StorageViews

/// However often a view fails or puts something off, the engine comes back to it at one time, not at one for each.
@Suite(.timeLimit(.minutes(10))) struct EngineTimerTests {
    /// Where rows are read from, which fails while a test wants it to.
    private final class Disk: Sendable {
        let fails = Mutex(false)

        func set(failing: Bool) { fails.withLock { $0 = failing } }

        func read() throws -> Int {
            guard fails.withLock({ $0 }) else { return 1 }
            throw StorageError(.ioError, "The row can't be read.", remedy: "Wait.")
        }
    }

    private static func write(_ text: String, to store: StorageEngine) async throws {
        _ = try await store.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "INSERT OR REPLACE INTO rows(id, i, t) VALUES ('a', 1, ?)", arguments: [text])
        }
    }

    private static func list(
        _ disk: Disk, _ engine: SubscriptionEngine
    ) throws -> FollowedNode<ListNode<Int>> {
        let form = RowForm(table: RoutedStore.form.table, isShared: false) { _ in try disk.read() }
        return try FollowedNode(engine, stepFault: { _, _ in nil }) { ListNode(ListSpec(form, RowRequest())) }
    }

    // MARK: Failing

    @Test("A view that can't be read is retried at one time, however many commits reach it")
    func oneRetry() async throws {
        let store = try await RoutedStore.open { _ in }
        let engine = SubscriptionEngine(LiveSource(store))
        let disk = Disk()
        let list = try Self.list(disk, engine)
        let before = await engine.counters.reloads
        disk.set(failing: true)
        let start = ContinuousClock.now
        for number in 0..<8 {
            try await Self.write("\(number)", to: store)
            await engine.catchUp()
        }
        #expect(list.state.error?.code == .ioError)
        #expect(await engine.timers.count == 1)
        // Each commit makes it read once. Four retries, one after the other, take 0.1 + 0.2 + 0.4 + 0.8 seconds.
        try await eventually { await engine.counters.reloads >= before + 12 }
        #expect(ContinuousClock.now - start > .seconds(1.4))
        #expect(await engine.timers.count == 1)
        disk.set(failing: false)
        try await Self.write("last", to: store)
        await engine.catchUp()
        #expect(list.state.error == nil)
        #expect(list.state.value == [1])
        #expect(await engine.timers.isEmpty)
    }

    @Test("A retry that finds a commit reads once")
    func retryThatFindsCommit() async throws {
        let store = try await RoutedStore.open { _ in }
        let engine = SubscriptionEngine(QuietSource(store))
        let disk = Disk()
        let list = try Self.list(disk, engine)
        disk.set(failing: true)
        try await Self.write("looked at", to: store)
        await engine.catchUp()
        #expect(list.state.error?.code == .ioError)
        let before = await engine.counters
        try await Self.write("found by a retry", to: store)
        let position = store.committed.position
        try await eventually { await engine.position >= position }
        let after = await engine.counters
        #expect(after.reloads > before.reloads)
        #expect(after.reloads - before.reloads == after.steps - before.steps)
        #expect(await engine.timers.count == 1)
    }

    // MARK: Putting off

    /// Puts off what a change makes necessary until it is urgent.
    private final class PatientNode: SteppedNode {
        var pendingUpdate: PendingUpdate<ListUpdate<Int>>?
        private let askings: Counter
        private var isDirty = false

        /// - Parameter askings: Counts how often it is asked to do it.
        init(_ askings: Counter) { self.askings = askings }

        var ownInterests: [Interest] { [Interest(entity: "rows", predicate: nil)] }
        var postponedSeconds: Double? { isDirty ? 0.1 : nil }
        var header: ListUpdate<Int> { ListUpdate() }
        var whole: [Int] { [] }
        var rowCount: Int { 0 }

        func bind(to layouts: [RowLayout]) {}
        func reload(_ snapshot: Snapshot) { isDirty = false }
        func apply(_ change: ChangedRow, in snapshot: Snapshot) { isDirty = true }
        func takeUpdate(at position: Int64) -> ListUpdate<Int>? { nil }
        func invalidate() {}

        func finishStep(_ snapshot: Snapshot) {
            if isDirty { askings.add() }
            if snapshot.isUrgent { isDirty = false }
        }
    }

    @Test("What is put off is come back to at one time, however many commits ask for it")
    func putOffOnce() async throws {
        let store = try await RoutedStore.open { _ in }
        let engine = SubscriptionEngine(LiveSource(store))
        let askings = Counter()
        let node = try FollowedNode(engine, stepFault: { _, _ in nil }) { PatientNode(askings) }
        for number in 0..<8 {
            try await Self.write("\(number)", to: store)
            await engine.catchUp()
        }
        #expect(await engine.timers.count == 1)
        let (before, start) = (askings.value, ContinuousClock.now)
        try await eventually { askings.value >= before + 8 }
        // Seven times a tenth of a second lie between eight times.
        #expect(ContinuousClock.now - start > .seconds(0.65))
        await engine.catchUp(isUrgent: true)
        #expect(await engine.timers.isEmpty)
        withExtendedLifetime(node) {}
    }

    @Test("Nothing is left of the timer of a view that is gone")
    func releasedNode() async throws {
        let store = try await RoutedStore.open { _ in }
        let engine = SubscriptionEngine(LiveSource(store))
        var node: FollowedNode<PatientNode>? = try FollowedNode(engine, stepFault: { _, _ in nil }) {
            PatientNode(Counter())
        }
        try await Self.write("put off", to: store)
        await engine.catchUp()
        #expect(await engine.timers.count == 1)
        #expect(node != nil)
        node = nil
        try await eventually { await engine.nodeCount == 0 }
        #expect(await engine.timers.isEmpty)
    }
}
