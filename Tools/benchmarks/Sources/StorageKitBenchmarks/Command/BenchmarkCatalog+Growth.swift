/// How costs grow with the log.
extension BenchmarkCatalog {
    var growth: Benchmark {
        let growth = Growth(tasks: growthTasks, sizes: workload.growthSizes)
        let (lookUps, saves) = (Format.count(workload.historyLookUps), Format.count(workload.consecutiveSaves))
        return Benchmark(
            id: "growth",
            title: GrowthChart.title,
            method: """
                Each row has 10 versions, which are as far apart as they can be; so a rebuild writes a tenth as many rows \
                as there are events, and a replay decodes all events. A history is all versions of a row, on average over \
                \(lookUps) rows in random order. A save is an update of a row, durability full, on average over \(saves) \
                one after another and sealing them. Opening ends with the first read. The table as of the middle has \
                \(Format.count(workload.asOfRows)) rows, and all events of a log of its own; the store is open, the past \
                has not been asked for.
                """,
            layout: .growth(growth)
        ) { workspace in
            Contest(operations: 1, contenders: try await growth.contenders(in: workspace))
        }
    }

    private var growthTasks: [Growth.Task] {
        let workload = workload
        return [
            Growth.Task(name: "rebuild the table") { events, workspace in
                let path = try await StorageKitStore.largeLogPath(LargeLog(events: events), in: workspace)
                return StorageKitContenders.rebuild(storeAt: path)
            },
            Growth.Task(name: "replay the log") { events, _ in
                StorageKitContenders.replay(LargeLog(events: events))
            },
            Growth.Task(name: "as of the middle") { events, _ in
                // At least two versions of each row, so that there is a past.
                StorageKitContenders.asOf(rows: min(workload.asOfRows, events / 2), events: events)
            },
            Growth.Task(name: "open the store") { events, _ in
                StorageKitContenders.open(LargeLog(events: events))
            },
            Growth.Task(name: "history of a row", operations: workload.historyLookUps) { events, _ in
                StorageKitContenders.rowHistory(LargeLog(events: events), lookUps: workload.historyLookUps)
            },
            Growth.Task(name: "save of a row", operations: workload.consecutiveSaves) { events, workspace in
                let log = LargeLog(events: events)
                let path = try await StorageKitStore.largeLogPath(log, in: workspace)
                return StorageKitContenders.saveOneByOne(log.changes(workload.consecutiveSaves), intoCopyOf: path)
            },
        ]
    }
}
