/// Benchmarks of `SQLiteClient` on its engines.
extension BenchmarkCatalog {
    var client: [Benchmark] {
        [clientSaveMany, clientSaveBatches, clientReadAll, clientLookUp, clientLookUpAtOnce, clientObserve]
    }

    private var clientSaveMany: Benchmark {
        Benchmark(
            id: "client-save-many",
            title: "`SQLiteClient`: write \(Format.count(workload.savedRows)) rows in one transaction",
            method: "`db.execute` of one upsert for each row. No history; all have the same pragmas."
        ) { _ in
            let people = generator.people(workload.savedRows)
            return Contest(
                operations: people.count,
                contenders: ClientContenders.saveMany(people, rowsPerTransaction: people.count))
        }
    }

    private var clientSaveBatches: Benchmark {
        Benchmark(
            id: "client-save-batches",
            title: "`SQLiteClient`: write \(Format.count(workload.savedRows)) rows in transactions of 100",
            method: "The same rows in transactions of 100, durability full, one after another."
        ) { _ in
            let people = generator.people(workload.savedRows)
            return Contest(
                operations: people.count, contenders: ClientContenders.saveMany(people, rowsPerTransaction: 100))
        }
    }

    private var clientReadAll: Benchmark {
        Benchmark(
            id: "client-read-all",
            title: "`SQLiteClient`: read \(Format.count(workload.savedRows)) rows",
            method: """
                In the order of the key, just written. The C loop touches every column and keeps nothing; the others return an \
                array of values with eight columns.
                """
        ) { _ in
            let people = generator.people(workload.savedRows)
            return Contest(operations: people.count, contenders: ClientContenders.readAll(people))
        }
    }

    private var clientLookUp: Benchmark {
        Benchmark(
            id: "client-get-by-id",
            title: "`SQLiteClient`: \(Format.count(workload.lookUps)) look-ups by key, one after another",
            method:
                "Each an awaited `read` of its own, eight columns by index. C has a statement that is always prepared, no transactions, and no other thread."
        ) { _ in
            let (people, keys) = peopleAndKeys()
            return Contest(operations: keys.count, contenders: ClientContenders.lookUp(keys, among: people))
        }
    }

    private var clientLookUpAtOnce: Benchmark {
        Benchmark(
            id: "client-64-at-once",
            title: "`SQLiteClient`: \(Format.count(workload.lookUps)) look-ups by key by 64 tasks at once",
            method:
                "Each task looks up its part, one `read` after another. C has 64 threads, a connection each, which are open before the time begins."
        ) { _ in
            let (people, keys) = peopleAndKeys()
            return Contest(
                operations: keys.count,
                contenders: ClientContenders.lookUpConcurrently(keys, tasks: 64, among: people))
        }
    }

    private var clientObserve: Benchmark {
        Benchmark(
            id: "client-observe",
            title: "`SQLiteClient`: \(Format.count(workload.consecutiveSaves)) commits, each followed by its report",
            method:
                """
                An update of one row, durability full, then the wait for the observation of the table. C has a thread that SQLite's \
                hooks wake. From a commit to its report is the time from the return of the write until whoever waits has the report.
                """
        ) { _ in
            let people = generator.people(workload.consecutiveSaves)
            return Contest(
                operations: people.count, contenders: ClientContenders.observe(people.count, among: people))
        }
    }
}
