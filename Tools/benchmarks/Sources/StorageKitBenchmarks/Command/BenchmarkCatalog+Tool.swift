/// Benchmarks of the command-line tool, as a user waits for it: each run is a process, from its start.
extension BenchmarkCatalog {
    /// Differences are asked of so many events.
    private static let comparedEvents = 100_000

    private func firstLineBudgets(_ store: String) -> [Budget] {
        let names = ToolContenders.names
        return [names.log, names.history, names.diff, names.middleDiff].map { name in
            Budget(
                title: "First line, `\(name)`, \(store)",
                quantity: .metricOf(ToolContenders.firstLineMetric, name), limit: .atMost, must: 50, aim: 50)
        }
    }

    private func peakBudgets(_ store: String) -> [Budget] {
        let names = ToolContenders.names
        return [names.history, names.asOf, names.export, names.rebuild].map { name in
            Budget(
                title: "Peak memory, `\(name)`, \(store)",
                quantity: .metricOf(ToolContenders.peakMetric, name), limit: .atMost, must: 100, aim: 40)
        }
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
            method: method, budgets: firstLineBudgets(events) + peakBudgets(events), layout: .curve
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
            budgets: peakBudgets("`\(history.name)`") + [
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
