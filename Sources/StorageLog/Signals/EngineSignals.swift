internal import Synchronization

/// The counters of an open store and the observers of its commits and reads. Without observers, each commit or read costs one
/// read of a number, and each transaction some additions under a lock that is never held for longer.
///
/// Isolation: `Sendable`, its state behind mutexes. Observers are called on the writer's queue, after the write has returned, or
/// on a reader's.
final class EngineSignals: Sendable {
    struct CommitObserver {
        let threshold: Duration
        let capture: (@Sendable () -> (any Sendable)?)?
        let receive: @Sendable (CommitTiming) -> Void
    }

    struct ReadObserver {
        let threshold: Duration
        let receive: @Sendable (ReadTiming) -> Void
    }

    private struct State {
        var next = 0
        var commits: [Int: CommitObserver] = [:]
        var reads: [Int: ReadObserver] = [:]
    }

    let counters = Mutex(StorageCounters())
    private let state = Mutex(State())
    private let commitCount = Atomic(0)
    private let readCount = Atomic(0)

    /// Whether there are observers of commits.
    var observesCommits: Bool { commitCount.load(ordering: .acquiring) > 0 }
    /// Whether there are observers of reads.
    var observesReads: Bool { readCount.load(ordering: .acquiring) > 0 }

    func add(_ observer: CommitObserver) -> StorageObservation {
        let token = state.withLock { state in
            state.next += 1
            state.commits[state.next] = observer
            return state.next
        }
        commitCount.add(1, ordering: .releasing)
        return StorageObservation { [weak self] in
            guard let self, state.withLock({ $0.commits.removeValue(forKey: token) }) != nil else { return }
            commitCount.subtract(1, ordering: .releasing)
        }
    }

    func add(_ observer: ReadObserver) -> StorageObservation {
        let token = state.withLock { state in
            state.next += 1
            state.reads[state.next] = observer
            return state.next
        }
        readCount.add(1, ordering: .releasing)
        return StorageObservation { [weak self] in
            guard let self, state.withLock({ $0.reads.removeValue(forKey: token) }) != nil else { return }
            readCount.subtract(1, ordering: .releasing)
        }
    }

    /// The values that observers capture on the task that calls a write, by the observers' tokens.
    func captured() -> [Int: any Sendable] {
        guard observesCommits else { return [:] }
        return state.withLock { $0.commits.compactMapValues(\.capture) }.compactMapValues { $0() }
    }

    func report(_ timing: CommitTiming, captured: [Int: any Sendable]) {
        for (token, observer) in state.withLock({ $0.commits }) where timing.duration >= observer.threshold {
            var timing = timing
            timing.captured = captured[token]
            observer.receive(timing)
        }
    }

    /// The duration above which a read is reported; nil without observers.
    var readThreshold: Duration? {
        guard observesReads else { return nil }
        return state.withLock { $0.reads.values.map(\.threshold).min() }
    }

    func report(_ timing: ReadTiming) {
        for observer in state.withLock({ Array($0.reads.values) }) where timing.duration >= observer.threshold {
            observer.receive(timing)
        }
    }
}

// MARK: Counting

extension EngineSignals {
    /// Counts a transaction that has just become durable.
    func note(_ timing: TransactionTiming, commits: Int, events: Int, pages: TransactionPages) {
        counters.withLock { counters in
            counters.transactions += 1
            counters.commits += commits
            counters.events += events
            counters.largestGroup = max(counters.largestGroup, commits)
            counters.lockWait += timing.lock
            counters.diskDurations.add(timing.disk)
            counters.checkpoints = pages.checkpoints
            counters.checkpointDuration = pages.checkpointDuration
            counters.walPages = pages.wal
            counters.pageCacheHits = pages.cacheHits
            counters.pageCacheMisses = pages.cacheMisses
        }
    }

    /// Counts completed writes, with their durations and whether they succeeded.
    func note(_ answers: some Sequence<(Duration, Bool)>) {
        counters.withLock { counters in
            for (duration, isCommitted) in answers {
                counters.commitDurations.add(duration)
                if !isCommitted { counters.failedCommits += 1 }
            }
        }
    }
}

/// How long a transaction took outside of its body.
struct TransactionTiming {
    /// The wait for SQLite's lock of the file.
    var lock = Duration.zero
    /// COMMIT, with the checkpoint.
    var disk = Duration.zero
    var checkpoint = Duration.zero
}

/// SQLite's page counters of the writer's connection since it was opened.
struct TransactionPages {
    /// Pages in the write-ahead log.
    var wal: Int
    var checkpoints: Int
    var checkpointDuration: Duration
    var cacheHits: Int
    var cacheMisses: Int
}
