/// Benchmarks of lists with children, of a server, and of the main thread: the workloads W13 to W15.
extension BenchmarkCatalog {
    // MARK: W13: lists with their children

    var liveRelated: Benchmark {
        let commits = workload.liveCommits
        let sizes = workload.liveSizes.filter { $0 <= 10_000 }
        let (most, common) = (sizes.last ?? 1, sizes.last { $0 <= 1_000 } ?? 1)
        return Benchmark(
            id: "live-related",
            title: "W13: commits among lists with included children",
            method: """
                Each view is a list of \(LiveRelated.shelvesOfARoom) rows with \(LiveRelated.boxesOfAShelf) children each, \
                in an order; a commit changes one child of one list. GRDB observes a constant region with `including(all:)` \
                and records that are decoded by hand: each observation fetches again at each commit, and the next commit \
                follows when all have returned a value. With StorageKit it follows when the list of the changed child shows it; \
                no other is notified. CPU is that of the whole process until then. A contender stops after a minute, or behind \
                the commit that ends later.
                """,
            budgets: [
                Budget(
                    title: "A list with children, one of \(Format.count(common)) views, CPU against a GRDB observation",
                    quantity: .metricRatio(
                        LiveRelated.cpuMetric, of: LiveRelated.name(ContenderName.storageKit, common),
                        to: LiveRelated.name(ContenderName.constantRegion, common)), limit: .atMost, must: 1, aim: 0.1),
                Budget(
                    title: """
                        A list with children, one of \(Format.count(most)) views, shown, against one of one view
                        """,
                    quantity: .metricRatio(
                        LiveRelated.shownMetric, of: LiveRelated.name(ContenderName.storageKit, most),
                        to: LiveRelated.name(ContenderName.storageKit, sizes.first ?? 1)), limit: .atMost, must: 1.25,
                    aim: 1.05),
            ], layout: .curve
        ) { _ in
            Contest(
                operations: commits,
                contenders: sizes.flatMap {
                    LiveRelated.contenders(views: $0, rooms: most, commits: commits, isPeer: true)
                })
        }
    }

    // MARK: W14: a server

    var liveServer: Benchmark {
        let commits = workload.liveCommits * 50
        let sizes = workload.liveSizes.filter { $0 >= 10 && $0 <= 1_000 }
        return Benchmark(
            id: "live-server", title: "W14: \(Format.count(commits)) commits beside the live queries of many users",
            method: """
                Each user has \(LiveServer.queriesOfAUser) lists of ten rows, bounded by a scope and followed as \
                differences by a task of its own, in the process of the writer; a commit changes a row of one user, one \
                commit after another. Each state that a reader has put together from differences is compared with what \
                a program makes of the same orders at that position, and the last one with a fresh query. Memory is what \
                the process has more resident, tasks and rows of the readers included: when all lists are there and freed \
                memory is given back, and at most until then.
                """,
            budgets: [LiveServer.wrongMetric, LiveServer.missingMetric].flatMap { metric in
                sizes.map { users in
                    Budget(
                        title: "A server of \(Format.count(users)) users: \(metric)",
                        quantity: .metricOf(metric, LiveServer.name(users: users)), limit: .atMost, must: 0, aim: 0)
                }
            }, layout: .curve
        ) { _ in
            Contest(operations: commits, contenders: sizes.map { LiveServer.contender(users: $0, commits: commits) })
        }
    }

    // MARK: W15: the main thread

    var liveMainThread: Benchmark {
        let rows = workload.liveManyRows
        return Benchmark(
            id: "live-main-thread",
            title: "W15: the main thread while views of \(Format.count(rows)) rows are made, searched and given up",
            method: """
                Each view is made on the main actor as an app makes it, waited for, and given up, five times; searches \
                are typed letter by letter. The longest stay of the main thread is the most CPU that it used between two \
                looks at it, half a millisecond apart, which is at least that of the longest job; how long a look waited \
                says as much by the clock, with what the scheduler of a busy machine adds. Full-text searches are among \
                \(Format.count(workload.documents)) documents.
                """,
            budgets: LiveMainThread.Kind.allCases.map { kind in
                Budget(
                    title: "Longest stay of the main thread, \(kind.rawValue)",
                    quantity: .metricOf(MainThreadWatch.cpuMetric, kind.rawValue), limit: .atMost, must: 2, aim: 0.5)
            }, layout: .curve
        ) { _ in
            Contest(
                operations: 1,
                contenders: LiveMainThread.contenders(rows: rows, documents: workload.documents))
        }
    }
}
