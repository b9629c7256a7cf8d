public import CoreMetrics
public import Logging
internal import StorageCore
public import StorageKit
internal import StorageLog
public import Tracing

/// Reports the state of a store to the host's logging, metrics and tracing.
///
/// ```swift
/// let reporter = SignalReporter(storage, logger: logger)
/// try await withThrowingDiscardingTaskGroup { group in
///     group.addTask { try await reporter.run() }
///     …
/// }
/// ```
///
/// - **Metrics**: a timer for each write (`storagekit_commit_duration_seconds`) and for its wait for the disk, and
///   every ``SignalConfiguration/interval`` counters and gauges: group size, checkpoints, bytes of the write-ahead log,
///   the sealing debt, the lag of projections and of live results, hits of the page cache.
/// - **Spans**: one for each write (`storage.commit`), from the call to the answer, as a child of the calling task's
///   span, with the correlation id as `storagekit.correlation`.
/// - **Logs**: a warning for each slow write and each slow read, with the main cause.
///
/// No write waits for it: a write's timing is queued after its answer, and ``run()`` does the rest. Signals that don't
/// fit into the queue are dropped and counted (`storagekit_dropped_signals_total`). Nothing that is reported contains
/// values of rows; statements are included as written, so bind values instead of writing them into SQL.
///
/// Isolation: `Sendable`. Call ``run()`` once.
public final class SignalReporter: Sendable {
    /// A signal that waits to be reported.
    enum Signal: Sendable {
        case commit(CommitTiming)
        case read(ReadTiming)
    }

    let storage: Storage
    let logger: Logger
    let configuration: SignalConfiguration
    let instruments: SignalInstruments
    private let tracer: (any Tracer)?
    private let signals: AsyncStream<Signal>
    private let observations: [StorageObservation]

    /// Begins to observe a store.
    ///
    /// - Parameters:
    ///   - logger: Where slow writes and reads are logged, as warnings.
    ///   - metrics: The destination of metrics; the factory of `MetricsSystem` if nil.
    ///   - tracer: The destination of spans; the tracer of `InstrumentationSystem` if nil.
    public init(
        _ storage: Storage, logger: Logger = Logger(label: "storagekit"), metrics: (any MetricsFactory)? = nil,
        tracer: (any Tracer)? = nil, configuration: SignalConfiguration = SignalConfiguration()
    ) {
        self.storage = storage
        self.logger = logger
        self.configuration = configuration
        self.tracer = tracer
        let instruments = SignalInstruments(metrics ?? MetricsSystem.factory, dimensions: configuration.dimensions)
        self.instruments = instruments
        let (signals, continuation) = AsyncStream.makeStream(
            of: Signal.self, bufferingPolicy: .bufferingNewest(configuration.queueLength))
        self.signals = signals
        let pass = { @Sendable (signal: Signal) in
            if case .dropped = continuation.yield(signal) { instruments.dropped.increment() }
        }
        observations = [
            storage.observeCommits(capture: { ServiceContext.current }) { pass(.commit($0)) },
            storage.observeReads(longerThan: configuration.slowRead) { pass(.read($0)) },
        ]
    }

    /// Reports until the task is cancelled or the store is closed.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func run() async throws {
        defer { for observation in observations { observation.cancel() } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await signal in self.signals { self.report(signal) } }
            group.addTask { try await self.reportState() }
            // Whichever ends first: the store is closed, or the task cancelled.
            _ = try await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }

    private func report(_ signal: Signal) {
        switch signal {
        case .commit(let timing):
            instruments.record(timing)
            let tracer: any Tracer = tracer ?? InstrumentationSystem.tracer
            trace(timing, by: tracer)
            if timing.duration >= configuration.slowCommit { log(timing) }
        case .read(let timing): log(timing)
        }
    }

    private func reportState() async throws {
        var last = StateReading()
        while true {
            do {
                let state = try await StateReading(storage)
                instruments.record(state, since: last)
                last = state
            } catch let error as StorageError where error.code == .closed {
                return
            } catch let error as StorageError {
                logger.warning("the store can't be read", metadata: ["code": "\(error.code)"])
            }
            try await Task.sleep(for: configuration.interval.limited)
        }
    }

    // MARK: Spans

    private func trace(_ timing: CommitTiming, by tracer: some Tracer) {
        let start = CommitInstant(nanosecondsSinceEpoch: UInt64(max(0, timing.startMicroseconds)) * 1_000)
        let context = timing.captured as? ServiceContext ?? .topLevel
        let span = tracer.startSpan("storage.commit", context: context, at: start)
        span.attributes["storagekit.correlation"] = timing.metadata.correlation
        span.attributes["storagekit.group_size"] = timing.groupSize
        span.attributes["storagekit.reason"] = timing.reason.rawValue
        switch timing.result {
        case .success(let receipt):
            span.attributes["storagekit.commit"] = receipt.commit.map { SpanAttribute.int64($0) }
            span.attributes["storagekit.events"] = receipt.eventCount
        case .failure(let error):
            span.recordError(error, attributes: [:], at: start)
            span.setStatus(SpanStatus(code: .error))
        }
        span.end(
            at: CommitInstant(
                nanosecondsSinceEpoch: start.nanosecondsSinceEpoch + UInt64(timing.duration.nanoseconds)))
    }
}

/// A moment of a commit.
private struct CommitInstant: TracerInstant {
    let nanosecondsSinceEpoch: UInt64

    static func < (left: Self, right: Self) -> Bool { left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch }
}

// MARK: Logs

extension SignalReporter {
    private func log(_ timing: CommitTiming) {
        var metadata: Logger.Metadata = [
            "duration": "\(timing.duration)", "reason": "\(timing.reason.rawValue)",
            "group_size": "\(timing.groupSize)",
            "queue": "\(timing.queue)", "lock": "\(timing.lock)", "group": "\(timing.group)", "body": "\(timing.body)",
            "projections": "\(timing.projections)", "disk": "\(timing.disk)", "checkpoint": "\(timing.checkpoint)",
        ]
        if let correlation = timing.metadata.correlation { metadata["correlation"] = "\(correlation)" }
        switch timing.result {
        case .success(let receipt):
            metadata["events"] = "\(receipt.eventCount)"
            if let commit = receipt.commit { metadata["commit"] = "\(commit)" }
        case .failure(let error):
            metadata["error"] = "\((error as? StorageError).map { "\($0.code)" } ?? "\(type(of: error))")"
        }
        logger.warning("slow commit", metadata: metadata)
    }

    private func log(_ timing: ReadTiming) {
        var metadata: Logger.Metadata = [
            "duration": "\(timing.duration)", "reason": "\(timing.reason.rawValue)",
            "connection": "\(timing.connection)",
        ]
        if let statement = timing.statement {
            metadata["statement"] = "\(statement)"
            metadata["scanned_rows"] = "\(timing.scannedRows)"
        }
        logger.warning("slow read", metadata: metadata)
    }
}
