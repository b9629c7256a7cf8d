/// Benchmarks of the command-line tool, as a user waits for it: each run is a process, from its start.
extension BenchmarkCatalog {
    /// Differences are asked of so many events.
    private static let comparedEvents = 100_000

    private func budgets(
        _ title: String, _ metric: String, of names: [String], must: Double, aim: Double, on store: String
    ) -> [Budget] {
        names.map { name in
            Budget(
                title: "\(title), `\(name)`, \(store)", quantity: .metricOf(metric, name), limit: .atMost, must: must,
                aim: aim)
        }
    }

    private func firstLineBudgets(on store: String) -> [Budget] {
        let names = ToolContenders.names
        return budgets(
            "First line", ToolContenders.firstLineMetric,
            of: [names.log, names.history, names.diff, names.middleDiff], must: 50, aim: 50, on: store)
    }

    private func peakBudgets(on store: String) -> [Budget] {
        let names = ToolContenders.names
        return budgets(
            "Peak memory", ToolContenders.peakMetric,
            of: [names.history, names.asOf, names.export, names.rebuild], must: 100, aim: 40, on: store)
    }

    private var method: String {
        """
        Each run is a process of the tool, built in release mode; times count from its start, memory is all that it has \
        resident. Its output is read from a pipe, as JSON Lines. The differences are those of \
        \(Format.count(Self.comparedEvents)) events, of a quarter of the log where that is less; the row is the one that \
        was changed in the middle of the log, and its table is what is asked for there.
        """
    }

    var toolOnLargeLog: Benchmark {
        let log = workload.largeLog
        let events = "\(Format.count(log.events)) events"
        return Benchmark(
            id: "tool-large", title: "The tool on \(events)",
            method: method, budgets: firstLineBudgets(on: events) + peakBudgets(on: events), layout: .curve
        ) { workspace in
            guard let tool = StorageKitTool.found else { return Contest(operations: 1, contenders: []) }
            let path = try await StorageKitStore.largeLogPath(log, in: workspace)
            return Contest(
                operations: 1,
                contenders: try ToolContenders.contenders(tool, store: path, events: Self.comparedEvents))
        }
    }

    func toolOnHistory(_ history: HistoryFile) -> Benchmark {
        Benchmark(
            id: "tool-" + history.name,
            title: "The tool on the history `\(history.name)`",
            method: method,
            budgets: peakBudgets(on: "`\(history.name)`") + [
                Budget(
                    title: "As-of of a table of `\(history.name)` in the middle of its history, cold",
                    quantity: .metricOf(ToolContenders.wholeMetric, ToolContenders.names.asOf), limit: .atMost,
                    must: 300, aim: 50)
            ],
            layout: .curve
        ) { workspace in
            guard let tool = StorageKitTool.found,
                let path = try await StorageKitTool.importedStore(of: history, in: workspace)
            else { return Contest(operations: 1, contenders: []) }
            return Contest(
                operations: 1,
                contenders: try ToolContenders.contenders(tool, store: path, events: Self.comparedEvents))
        }
    }
}
