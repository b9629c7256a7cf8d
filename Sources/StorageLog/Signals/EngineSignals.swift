internal import Synchronization

/// What is counted of an open store, and who wants to know how long its commits and reads take. While there is nobody, each of them
/// costs one look at a number, and each transaction some additions under a lock that nobody holds for longer.
///
/// Isolation: `Sendable`, its state behind mutexes. Observers are called on the writer's queue, behind the answer, or on a reader's.
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

    /// Whether anybody wants to know of commits.
    var observesCommits: Bool { commitCount.load(ordering: .acquiring) > 0 }
    /// Whether anybody wants to know of reads.
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

    /// What observers note of the task that calls a write, by their tokens.
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

    /// Above which duration a read is reported; nil where nobody wants to know.
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

    /// Counts writes that were answered, with how long they took and whether they succeeded.
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

/// What the writer's connection says of its pages, since it was opened.
struct TransactionPages {
    /// Pages in the write-ahead log.
    var wal: Int
    var checkpoints: Int
    var checkpointDuration: Duration
    var cacheHits: Int
    var cacheMisses: Int
}
