import Foundation

extension BenchmarkCatalog {
    var saveMany: Benchmark {
        Benchmark(
            id: "save-many",
            title: "Save \(Format.count(workload.savedRows)) rows in one call",
            method: """
                New rows with rising keys into an empty table, one transaction. GRDB and C keep no history, StorageKit \
                keeps all of it, and seals it within the clock. All have the same pragmas.
                """,
            budgets: [
                Budget(
                    title: "Save many rows, against GRDB `upsert`",
                    quantity: .speedup(over: ContenderName.codableUpsert), limit: .atLeast, must: 4, aim: 8),
                Budget(
                    title: "Save many rows, against a GRDB cached statement",
                    quantity: .wallRatio(to: ContenderName.cachedStatement), limit: .atMost, must: 2, aim: 1.2),
                Budget(
                    title: "Save many rows, against a C loop",
                    quantity: .wallRatio(to: ContenderName.cUpsert), limit: .atMost, must: 3, aim: 1.8),
            ]
        ) { _ in
            let people = generator.people(workload.savedRows)
            return Contest(
                operations: people.count,
                contenders: GRDBContenders.saveMany(people) + CContenders.saveMany(people)
                    + StorageKitContenders.saveMany(people))
        }
    }

    var saveConcurrently: Benchmark {
        Benchmark(
            id: "save-concurrently",
            title: "\(Format.count(workload.concurrentSaves)) concurrent single saves, durability full",
            method: "One task per row, all started at once, into an empty table; until the last one has returned.",
            budgets: [
                Budget(
                    title: "Concurrent single saves, against GRDB `pool.write` each",
                    quantity: .speedup(over: ContenderName.poolWrite), limit: .atLeast, must: 5, aim: 20)
            ]
        ) { _ in
            let people = generator.people(workload.concurrentSaves)
            return Contest(
                operations: people.count,
                contenders: GRDBContenders.saveConcurrently(people) + StorageKitContenders.saveConcurrently(people))
        }
    }

    var saveOneByOne: Benchmark {
        Benchmark(
            id: "save-one-by-one",
            title: "\(Format.count(workload.consecutiveSaves)) saves one after another, durability full",
            method: "Each save is awaited before the next begins, into an empty table; C commits every row.",
            budgets: [
                Budget(
                    title: "One save after another, against GRDB `pool.write` each",
                    quantity: .wallRatio(to: ContenderName.poolWrite), limit: .atMost, must: 1.25, aim: 1)
            ]
        ) { _ in
            let people = generator.people(workload.consecutiveSaves)
            return Contest(
                operations: people.count,
                contenders: GRDBContenders.saveOneByOne(people) + CContenders.saveOneByOne(people)
                    + StorageKitContenders.saveOneByOne(people))
        }
    }

    var readAll: Benchmark {
        Benchmark(
            id: "read-all",
            title: "Read \(Format.count(workload.savedRows)) rows",
            method: """
                In the order of the key, just written, so in the system's cache. The C loop touches every column and \
                keeps nothing; the others return an array.
                """,
            budgets: [
                Budget(
                    title: "Read many rows, against GRDB Codable records",
                    quantity: .speedup(over: ContenderName.codableFetch), limit: .atLeast, must: 2, aim: 2.5),
                Budget(
                    title: "Read many rows, against GRDB hand-written records",
                    quantity: .wallRatio(to: ContenderName.handwrittenFetch), limit: .atMost, must: 1, aim: 0.8),
            ]
        ) { _ in
            let people = generator.people(workload.savedRows)
            return Contest(
                operations: people.count,
                contenders: GRDBContenders.readAll(people) + CContenders.readAll(people)
                    + StorageKitContenders.readAll(people))
        }
    }

    func importHistory(_ history: HistoryFile) -> Benchmark {
        Benchmark(
            id: "import-" + history.name,
            title: "Import the history `\(history.name)`",
            method: """
                From plain JSON Lines. "C upsert" applies operations parsed beforehand as upserts of whole rows and \
                deletes, 10,000 a transaction in whole `tx` groups, into tables that have all columns from the start; \
                "C parse and upsert" also reads and parses the file. The others of C do the same, in the same transactions, and keep \
                history: by triggers that write the changed columns of each version of a row as sqlite-history does, or both \
                rows as JSON; or as a changeset of SQLite's session extension for each `tx`.
                """,
            budgets: [
                Budget(
                    title: "Import `\(history.name)`, against a C loop that parses too",
                    quantity: .cpuRatio(to: ContenderName.cParseAndUpsert), limit: .atMost, must: 2.5, aim: 1.5)
            ]
        ) { workspace in
            let jsonLines = try history.jsonLines(in: workspace.shared)
            let parsed = try CHistory(path: jsonLines.path)
            return Contest(
                operations: parsed.operationCount,
                contenders: CContenders.importHistory(parsed, jsonLines: jsonLines.path)
                    + StorageKitContenders.importHistory(jsonLines))
        }
    }

    private func rebuildBudget(_ what: String) -> Budget {
        Budget(
            title: what + ", against a C bulk load", quantity: .wallRatio(to: ContenderName.cBulkLoad), limit: .atMost,
            must: 2, aim: 1.2)
    }

    private func rebuildContest(_ rows: Int, _ path: String) -> Contest {
        Contest(
            operations: rows,
            contenders: CContenders.bulkLoad(rowsOf: path) + StorageKitContenders.rebuild(storeAt: path))
    }

    var rebuild: Benchmark {
        Benchmark(
            id: "rebuild",
            title: "Rebuild an entity table of \(Format.count(workload.savedRows)) rows",
            method: "From the log; the C bulk load is plain inserts of the same rows in key order, one transaction.",
            budgets: [rebuildBudget("Rebuild an entity table")]
        ) { _ in
            let people = generator.people(workload.savedRows)
            return Contest(
                operations: people.count,
                contenders: CContenders.bulkLoad(people) + StorageKitContenders.rebuild(people))
        }
    }

    var rebuildVersions: Benchmark {
        let log = workload.versionedLog
        return Benchmark(
            id: "rebuild-versions",
            title: "Rebuild an entity table of \(Format.count(log.rows)) rows with \(log.versions) versions each",
            method: """
                From a log of \(Format.count(log.events)) events, in which some versions of a row lie side by side and \
                others \(Format.count(log.longestDelay * log.versions)) events apart; the C bulk load is plain inserts of \
                the newest versions alone, in key order, one transaction.
                """,
            budgets: [rebuildBudget("Rebuild an entity table with \(log.versions) versions a row")]
        ) { workspace in
            let path = try await StorageKitStore.versionedLogPath(log, in: workspace)
            return rebuildContest(log.rows, path)
        }
    }

    /// The versions of a row lie so far apart that no stretch that fits in memory holds two of them.
    var rebuildLarge: Benchmark {
        let log = workload.largeLog
        return Benchmark(
            id: "rebuild-large",
            title: "Rebuild an entity table of \(Format.count(log.rows)) rows from \(Format.count(log.events)) events",
            method: """
                Each row has \(log.versions) versions, \(Format.count(log.rows)) events apart; the C bulk load is plain inserts \
                of the newest versions alone, in key order, one transaction.
                """,
            budgets: [rebuildBudget("Rebuild an entity table from \(Format.count(log.events)) events")]
        ) { workspace in
            let path = try await StorageKitStore.largeLogPath(log, in: workspace)
            return rebuildContest(log.rows, path)
        }
    }

    func rebuildHistory(_ history: HistoryFile) -> Benchmark {
        Benchmark(
            id: "rebuild-" + history.name,
            title: "Rebuild the tables of the history `\(history.name)`",
            method: """
                From the log that `storagekit import` made of it; the C bulk load is plain inserts of the rows that are \
                there at the end, in key order, one transaction.
                """,
            budgets: [rebuildBudget("Rebuild the tables of `\(history.name)`")]
        ) { workspace in
            guard let path = try await StorageKitTool.importedStore(of: history, in: workspace) else {
                return Contest(operations: 1, contenders: [])
            }
            return rebuildContest(try CStore(path).rows().count, path)
        }
    }
}
