/// Benchmarks of the log itself, for which the baselines have nothing to compare.
extension BenchmarkCatalog {
    private var largeLogWords: String {
        let log = workload.largeLog
        return "\(Format.count(log.events)) events (\(Format.count(log.rows)) rows, \(log.versions) versions each)"
    }

    var replay: Benchmark {
        let log = workload.largeLog
        return Benchmark(
            id: "replay",
            title: "Replay \(largeLogWords)",
            method: "Every event is decoded, in order, on one core.",
            budgets: [
                Budget(
                    title: "Replay", quantity: .operationsPerSecond, limit: .atLeast, must: 1_000_000, aim: 3_000_000)
            ]
        ) { _ in
            Contest(operations: log.events, contenders: StorageKitContenders.replay(log))
        }
    }

    var logSize: Benchmark {
        let (rows, updates) = (workload.updatedRows, workload.updates)
        return Benchmark(
            id: "log-size",
            title: "Log size of \(Format.count(updates)) updates of 3 columns",
            method: """
                Spread over \(Format.count(rows)) rows of 8 columns; stored bytes of the log after sealing, less those \
                before the updates, by the number of updates.
                """,
            budgets: [
                Budget(
                    title: "Log bytes per event after sealing, 3-column updates",
                    quantity: .metric(Self.logBytesMetric), limit: .atMost, must: 40, aim: 20)
            ]
        ) { _ in
            Contest(operations: updates, contenders: StorageKitContenders.logSize(rows: rows, updates: updates))
        }
    }

    var rowHistory: Benchmark {
        let (log, lookUps) = (workload.largeLog, workload.historyLookUps)
        return Benchmark(
            id: "row-history",
            title: "History of one row among \(largeLogWords)",
            method: "\(Format.count(lookUps)) rows in random order, one after another, all versions of each.",
            budgets: [
                Budget(
                    title: "Row history, \(log.versions) versions, among \(Format.count(log.events)) events",
                    quantity: .millisecondsPerOperation, limit: .atMost, must: 2, aim: 0.5)
            ]
        ) { _ in
            Contest(operations: lookUps, contenders: StorageKitContenders.rowHistory(log, lookUps: lookUps))
        }
    }

    var open: Benchmark {
        let log = workload.largeLog
        return Benchmark(
            id: "open",
            title: "Open a store of \(largeLogWords)",
            method: "Until the first read is possible. The file may be in the system's cache.",
            budgets: [
                Budget(
                    title: "Open a store of \(Format.count(log.events)) events",
                    quantity: .millisecondsPerOperation, limit: .atMost, must: 20, aim: 5)
            ]
        ) { _ in
            Contest(operations: 1, contenders: StorageKitContenders.open(log))
        }
    }

    var peakMemory: Benchmark {
        let log = workload.largeLog
        return Benchmark(
            id: "peak-memory",
            title: "Peak memory over \(largeLogWords)",
            method: "How far resident memory rises during the run. Most exact when it is the only benchmark run.",
            budgets: [
                Budget(
                    title: "Peak memory over \(Format.count(log.events)) events",
                    quantity: .peakGrowthMegabytes, limit: .atMost, must: 100, aim: 40)
            ]
        ) { _ in
            Contest(operations: log.events, contenders: StorageKitContenders.peakMemory(log))
        }
    }

    var asOf: Benchmark {
        let (rows, events) = (workload.asOfRows, workload.asOfEvents)
        return Benchmark(
            id: "as-of",
            title: "A table of \(Format.count(rows)) rows as of a point in \(Format.count(events)) events",
            method:
                "Every event is one of this table. In the middle of the log, where undoing and replaying have equally far to go, and near its end. Cold: the store is opened before the run, the past has not been asked for.",
            budgets: [
                Budget(
                    title: "As-of of a table of \(Format.count(rows)) rows among \(Format.count(events)) events, cold",
                    quantity: .millisecondsPerOperation, limit: .atMost, must: 300, aim: 50)
            ]
        ) { _ in
            Contest(operations: 1, contenders: StorageKitContenders.asOf(rows: rows, events: events))
        }
    }

    /// What the budgets of a large table name: measured with fewer events where those are asked for.
    var asOfRandom: Benchmark {
        let log = workload.randomLog
        let names = StorageKitContenders.randomAsOfNames
        let table = "a table of \(Format.count(log.rows)) rows among \(Format.count(log.events)) events in random order"
        return Benchmark(
            id: "as-of-random",
            title:
                "A table of \(Format.count(log.rows)) rows as of a point in \(Format.count(log.events)) events in random order",
            method: """
                \(Format.count(log.rows)) inserts, then updates of rows at random, \(RandomLog.rowsPerCommit) a commit. The \
                store is opened before the run, the past has not been asked for. A count needs no values; the sum of the \
                ages does, and is compared with what the events make it.
                """,
            budgets: [
                Budget(
                    title: "Sum over \(table), in the middle", quantity: .metricOf(Self.asOfMetric, names.middleSum),
                    limit: .atMost, must: 5_000, aim: 2_000),
                Budget(
                    title: "Count of \(table), in the middle", quantity: .metricOf(Self.asOfMetric, names.middleCount),
                    limit: .atMost, must: 5_000, aim: 2_000),
                Budget(
                    title: "Count of \(table), 10 commits back",
                    quantity: .metricOf(Self.asOfMetric, names.recentCount), limit: .atMost, must: 100, aim: 20),
            ]
        ) { _ in
            Contest(operations: 1, contenders: StorageKitContenders.asOf(log))
        }
    }

    static let asOfMetric = "ms of an as-of"
    static let logRatioMetric = "log bytes by those of zstd -19"
    static let storageRatioMetric = "all storage_* pages by those of zstd -19"

    func logSizeOfHistory(_ history: HistoryFile) -> Benchmark {
        Benchmark(
            id: "log-size-" + history.name,
            title: "Log size of the history `\(history.name)`",
            method: """
                Bytes of the pages that hold the log after `storagekit import`, against `zstd -19` of the JSON Lines with \
                whole rows; and those of all tables and indexes of the store's own, the tombstones of deleted rows \
                included.
                """,
            budgets: [
                Budget(
                    title: "Log of `\(history.name)`, against `zstd -19` of its JSON Lines",
                    quantity: .metric(Self.logRatioMetric), limit: .atMost, must: 2, aim: 1.2)
            ], layout: .curve
        ) { workspace in
            guard let store = try await StorageKitTool.importedStore(of: history, in: workspace) else {
                return Contest(operations: 1, contenders: [])
            }
            let compressed = try history.compressedBytes(in: workspace.shared)
            return Contest(
                operations: 1,
                contenders: [StorageKitContenders.logSize(ofHistoryAt: store, compressedBytes: compressed)])
        }
    }
}
