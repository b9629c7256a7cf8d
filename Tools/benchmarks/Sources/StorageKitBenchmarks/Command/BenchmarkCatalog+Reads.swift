/// Benchmarks of reads that find one row or a few.
extension BenchmarkCatalog {
    var lookUp: Benchmark {
        Benchmark(
            id: "get-by-id",
            title: "\(Format.count(workload.lookUps)) look-ups by key among \(Format.count(workload.savedRows)) rows",
            method: """
                Random keys, one after another, each an awaited read of its own. The GRDB records are asked with \
                `fetchOne(db, key:)`; the cached statement reads the hand-written record with SQL of its own.
                """,
            budgets: Self.readBudgets("A look-up by key")
        ) { _ in
            let (people, keys) = peopleAndKeys()
            return Contest(
                operations: keys.count,
                contenders: GRDBContenders.lookUp(keys, among: people)
                    + StorageKitContenders.lookUp(keys, among: people))
        }
    }

    var lookUpInOneTransaction: Benchmark {
        Benchmark(
            id: "get-by-id-in-one-transaction",
            title: "\(Format.count(workload.lookUps)) look-ups by key in one transaction",
            method: """
                The same look-ups within one transaction on the writer: what is left without the way to a connection \
                and a transaction for each.
                """,
            budgets: Self.readBudgets("A look-up by key in a transaction")
        ) { _ in
            let (people, keys) = peopleAndKeys()
            return Contest(
                operations: keys.count,
                contenders: GRDBContenders.lookUpInOneTransaction(keys, among: people)
                    + StorageKitContenders.lookUpInOneTransaction(keys, among: people))
        }
    }

    var query: Benchmark {
        Benchmark(
            id: "query",
            title: """
                \(Format.count(workload.queries)) queries with three conditions among \
                \(Format.count(workload.savedRows)) rows
                """,
            method: """
                `age` from a number on, one `city`, `active`; the \(PersonQuery.limit) with the highest `score`. An index \
                on `city` finds some fifty rows. The GRDB records are asked through the query interface; the cached \
                statement reads the hand-written record with SQL of its own.
                """,
            budgets: Self.readBudgets("A query with three conditions")
        ) { _ in
            let people = generator.people(workload.savedRows)
            let queries = PersonQuery.queries(workload.queries, cities: PersonGenerator.cityCount, seed: 7)
            let rows = PersonQuery.expectedRows(queries, among: people)
            return Contest(
                operations: queries.count,
                contenders: GRDBContenders.query(queries, among: people, finding: rows)
                    + StorageKitContenders.query(queries, among: people, finding: rows))
        }
    }

    /// No slower than records written by hand.
    static func readBudgets(_ what: String) -> [Budget] {
        [
            Budget(
                title: "\(what), against a GRDB Codable record",
                quantity: .wallRatio(to: ContenderName.codableRecord), limit: .atMost, must: 1, aim: 0.5),
            Budget(
                title: "\(what), against a GRDB hand-written record",
                quantity: .wallRatio(to: ContenderName.handwrittenRecord), limit: .atMost, must: 1, aim: 0.8),
        ]
    }

    func peopleAndKeys() -> ([Person], [String]) {
        var random = SplitMix64(seed: 11)
        let keys = (0..<workload.lookUps).map { _ in generator.key(Int(random.next() % UInt64(workload.savedRows))) }
        return (generator.people(workload.savedRows), keys)
    }
}
