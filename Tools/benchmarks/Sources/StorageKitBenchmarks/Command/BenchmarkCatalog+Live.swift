/// Benchmarks of views that follow a store.
extension BenchmarkCatalog {
    var livePage: Benchmark {
        Benchmark(
            id: "live-page",
            title:
                "\(Format.count(workload.liveCommits)) edits in a live page of 50 among \(Format.count(workload.savedRows)) rows",
            method: """
                Each commit changes one row of the page, which is sorted by its key, and is waited for until the page shows \
                it. The GRDB observation fetches the page again (`ValueObservation.tracking`, on the pool). Both are also \
                run with nobody looking; what the page adds is the difference.
                """,
            budgets: Self.liveBudgets("What a live page adds to a commit")
        ) { _ in
            let people = generator.people(workload.savedRows)
            return Contest(
                operations: workload.liveCommits,
                contenders: GRDBContenders.livePage(people, commits: workload.liveCommits)
                    + StorageKitContenders.livePage(people, commits: workload.liveCommits))
        }
    }

    var liveMany: Benchmark {
        Benchmark(
            id: "live-many",
            title: """
                \(Format.count(workload.liveCommits)) commits among \(Format.count(workload.liveViews)) live views of one \
                row each
                """,
            method: """
                Each commit changes the row of one view, and is waited for until that view shows it. Each GRDB observation \
                fetches its row again after every commit.
                """,
            budgets: Self.liveBudgets("What many live rows add to a commit")
        ) { _ in
            let people = generator.people(max(workload.liveViews, 1_000))
            return Contest(
                operations: workload.liveCommits,
                contenders: GRDBContenders.liveMany(people, views: workload.liveViews, commits: workload.liveCommits)
                    + StorageKitContenders.liveMany(people, views: workload.liveViews, commits: workload.liveCommits))
        }
    }

    private static func liveBudgets(_ what: String) -> [Budget] {
        [
            Budget(
                title: "\(what), against a GRDB observation",
                quantity: .addedWallRatio(
                    over: ContenderName.unwatched, to: ContenderName.observation,
                    overPlain: ContenderName.unobserved),
                limit: .atMost, must: 1, aim: 0.5)
        ]
    }
}
