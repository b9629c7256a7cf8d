internal import CoreMetrics
internal import StorageKit
internal import StorageLog

/// The instruments that a ``SignalReporter`` has created.
///
/// Isolation: `Sendable`; instruments are.
final class SignalInstruments: Sendable {
    private let factory: any MetricsFactory
    private let dimensions: [(String, String)]
    private let commit: CoreMetrics.Timer
    private let disk: CoreMetrics.Timer
    private let queue: CoreMetrics.Timer
    let dropped: Counter

    init(_ factory: any MetricsFactory, dimensions: [(String, String)]) {
        self.factory = factory
        self.dimensions = dimensions
        func timer(_ label: String) -> CoreMetrics.Timer {
            CoreMetrics.Timer(label: label, dimensions: dimensions, preferredDisplayUnit: .seconds, factory: factory)
        }
        commit = timer("storagekit_commit_duration_seconds")
        disk = timer("storagekit_disk_duration_seconds")
        queue = timer("storagekit_queue_duration_seconds")
        dropped = Counter(label: "storagekit_dropped_signals_total", dimensions: dimensions, factory: factory)
    }

    func record(_ timing: CommitTiming) {
        commit.recordNanoseconds(timing.duration.nanoseconds)
        disk.recordNanoseconds(timing.disk.nanoseconds)
        queue.recordNanoseconds(timing.queue.nanoseconds)
    }

    func record(_ state: StateReading, since last: StateReading) {
        for (label, value) in state.totals {
            // A counter is incremented by the difference since the last update.
            let added = value - (last.totals.first { $0.label == label }?.value ?? 0)
            FloatingPointCounter(label: label, dimensions: dimensions, factory: factory).increment(by: max(0, added))
        }
        for (label, labels, value) in state.gauges {
            Gauge(label: label, dimensions: dimensions + labels, factory: factory).record(value)
        }
    }
}
