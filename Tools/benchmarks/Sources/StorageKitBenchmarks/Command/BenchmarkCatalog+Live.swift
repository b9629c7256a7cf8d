/// Benchmarks of views that follow a store: the workloads W1 to W12, and W13 to W15 in a file of their own.
///
/// All stores write with the durability that doesn't wait for the disk at each commit (`synchronous` NORMAL), because
/// the disk would hide what views cost.
extension BenchmarkCatalog {
    var live: [Benchmark] {
        [
            liveEquality, liveKey, liveRange, liveAmong, livePrefix, livePart, liveUnconcerned, liveFanOut, livePage,
            liveLargePage, liveScroll, liveTotals, liveSearch, liveImport, liveSlowReader, liveStorm, liveProcesses,
            liveRelated, liveServer, liveMainThread,
        ]
    }

    private var people: String { Format.count(workload.liveRows) + " people" }

    // MARK: W1 and W2: many views, a commit that concerns one

    private var liveEquality: Benchmark {
        var benchmark = curve(
            "live-equality", "W1: commits among views of one address each", "one address, which has an index",
            sizes: workload.liveSizes, peers: 10_000, rows: workload.liveRows
        ) { .email($0) }
        let (least, most) = (workload.liveSizes.first ?? 1, workload.liveSizes.last ?? 1)
        benchmark.budgets = [
            Budget(
                title: """
                    A commit that concerns one of \(Format.count(most)) views, against one of \(Format.count(least))
                    """,
                quantity: .metricRatio(
                    LiveMetric.shownMedian, of: ContenderName.storageKit + views(most),
                    to: ContenderName.storageKit + views(least)), limit: .atMost, must: 1.25, aim: 1.05),
            Budget(
                title: """
                    Routing a change among \(Format.count(most)) views: engine time over that of \(Format.count(least))
                    """,
                quantity: .metricAdded(
                    LiveMetric.engine, of: ContenderName.storageKit + views(most),
                    over: ContenderName.storageKit + views(least)), limit: .atMost, must: 10, aim: 2),
        ]
        return benchmark
    }

    private var liveKey: Benchmark {
        curve(
            "live-key", "W2: commits among views of one key each",
            """
            one key; GRDB asks for the row id, by which it also distinguishes changes
            """,
            sizes: workload.liveFewerSizes, peers: 1_000, rows: workload.liveRows
        ) { .key($0) }
    }

    private var liveRange: Benchmark {
        curve(
            "live-range", "W2: commits among views of a range of ages each", "ten ages of its own",
            sizes: workload.liveFewerSizes, peers: 100, rows: workload.liveRows, spacing: 10
        ) { .ages(Int64($0 * 10)...Int64($0 * 10 + 9)) }
    }

    private var liveAmong: Benchmark {
        curve(
            "live-in", "W2: commits among views of three addresses each", "three addresses (`IN`)",
            sizes: workload.liveFewerSizes, peers: 100, rows: workload.liveRows, spacing: 10
        ) { .emails([$0 * 10, $0 * 10 + 1, $0 * 10 + 2]) }
    }

    private var livePrefix: Benchmark {
        curve(
            "live-prefix", "W2: commits among views of names that begin alike",
            "one beginning of names, without an index",
            sizes: workload.liveFewSizes, peers: 100, rows: workload.liveFewRows, spacing: 10
        ) { .namePrefix($0 * 10) }
    }

    private var livePart: Benchmark {
        curve(
            "live-text", "W2: commits among views of names with a text in them", "one text within names",
            sizes: workload.liveFewSizes, peers: 100, rows: workload.liveFewRows, spacing: 10
        ) { .namePart($0 * 10) }
    }

    /// - Parameter spacing: The view with number `n` shows the person at place `n` times this, and no other does.
    private func curve(
        _ id: String, _ title: String, _ question: String, sizes: [Int], peers: Int, rows: Int, spacing: Int = 1,
        asking: @escaping @Sendable (Int) -> LiveQuestion
    ) -> Benchmark {
        Benchmark(
            id: id, title: title,
            method: """
                Among \(Format.count(rows)) people. Each view asks for \(question). Each commit changes one person whom \
                one view shows, and is waited for until that view shows it.
                """,
            layout: .curve
        ) { _ in
            let contenders = sizes.flatMap { size in
                let live = LiveWorkload(
                    rows: rows, questions: (0..<size).map(asking), commits: workload.liveCommits
                ) { number in
                    let view = number % size
                    // Of the same place, now so and now otherwise: it stays in ranges of ages.
                    var person = LivePeople.person(view * spacing)
                    person.active = (number / size).isMultiple(of: 2)
                    return LiveCommit(saved: [person], audience: .view(view), sign: .person(person))
                }
                let cast: LiveContenders.Cast = size <= peers ? [.storageKit, .observations] : .storageKit
                let unwatched =
                    size == sizes.first ? LiveContenders.contenders(live, cast: .unwatched) : []
                return unwatched + LiveContenders.contenders(live, views(size), cast: cast)
            }
            return Contest(operations: workload.liveCommits, contenders: contenders)
        }
    }

    private func views(_ count: Int) -> String { ", \(Format.count(count)) view\(count == 1 ? "" : "s")" }

    // MARK: W3: commits that concern nobody

    private var liveUnconcerned: Benchmark {
        let (few, many) = (1, workload.liveRows)
        return Benchmark(
            id: "live-unconcerned", title: "W3: commits that concern no view",
            method: """
                One person in each commit, of a table that views look at, but none of those that any view shows. One \
                commit after another. What views add is measured in a store whose commits take turns: some while one view looks \
                (\(Format.count(workload.liveCommits)), 20 times) or \(Format.count(many)) do \
                (\(Format.count(5 * workload.liveCommits)), 5 times), as many while nobody does; the median of the turns, \
                and the least and the most of them. The CPU is that of the whole process.
                """,
            budgets: [few, many].flatMap { views in
                [(LiveTurns.addedMetric, "Time"), (LiveTurns.addedCPUMetric, "CPU")].map { metric, what in
                    Budget(
                        title: """
                            \(what) that \(Format.count(views)) view\(views == 1 ? "" : "s") add to a commit that concerns none
                            """,
                        quantity: .metricOf(metric, LiveTurns.name(views: views)), limit: .atMost, must: 5, aim: 1)
                }
            }, layout: .curve
        ) { _ in
            let sizes = [few, workload.liveFewSizes.last ?? few, many]
            let contenders = sizes.flatMap { size in
                let live = LiveWorkload(
                    rows: 2 * many, questions: (0..<size).map { .email($0) }, commits: 5 * workload.liveCommits
                ) { number in
                    LiveCommit(saved: [LivePeople.person(many + number % many, after: number)])
                }
                let cast: LiveContenders.Cast = size < many ? [.storageKit, .observations] : .storageKit
                return (size == few ? LiveContenders.contenders(live, cast: .unwatched) : [])
                    + LiveContenders.contenders(live, views(size), cast: cast)
            }
            let turns = [(few, workload.liveCommits), (many, 5 * workload.liveCommits)].map { size, commits in
                LiveTurns.contender(
                    LiveWorkload(
                        rows: 2 * many, questions: (0..<size).map { .email($0) }, commits: commits
                    ) { number in
                        LiveCommit(saved: [LivePeople.person(many + number % many, after: number)])
                    })
            }
            return Contest(operations: 5 * workload.liveCommits, contenders: contenders + turns)
        }
    }

    // MARK: W4: a commit that concerns everybody

    private var liveFanOut: Benchmark {
        Benchmark(
            id: "live-fan-out", title: "W4: commits that concern all views",
            method: "All views show the same person, whom each commit changes; until the last view shows it.",
            layout: .curve
        ) { _ in
            let contenders = workload.liveSizes.filter { $0 <= 10_000 }.flatMap { size in
                let live = LiveWorkload(
                    rows: workload.liveFewRows, questions: Array(repeating: .key(0), count: size),
                    commits: workload.liveCommits
                ) { number in
                    let person = LivePeople.person(0, after: number)
                    return LiveCommit(saved: [person], audience: .everybody, sign: .person(person))
                }
                return LiveContenders.contenders(
                    live, views(size), cast: size <= 1_000 ? [.storageKit, .observations] : .storageKit)
            }
            return Contest(operations: workload.liveCommits, contenders: contenders)
        }
    }

    // MARK: W9: an import while views look

    private var liveImport: Benchmark {
        let (cities, commits) = (LivePeople.cityCount, workload.liveImportCommits)
        let perCommit = 1_000
        return Benchmark(
            id: "live-import",
            title: "W9: \(Format.count(commits * perCommit)) people imported while \(cities) views look",
            method: """
                \(Format.count(perCommit)) a commit, one after another, into an empty table; each view shows the people of \
                one city, ten of each commit. Until all views show all people. Who reads takes each value as it comes, or \
                rests for a tenth of a second after each.
                """,
            budgets: [
                Budget(
                    title: "An import with \(cities) views, against one with none",
                    quantity: .wallRatio(to: ContenderName.unwatched), limit: .atMost, must: 1.3, aim: 1.1),
                Budget(
                    title: "An import with \(cities) views, against GRDB observations",
                    quantity: .wallRatio(to: ContenderName.observation), limit: .atMost, must: 1, aim: 0.5),
            ]
        ) { _ in
            var live = LiveWorkload(questions: (0..<cities).map { .city($0) }, commits: commits) { number in
                let first = number * perCommit
                let people = (first..<first + perCommit).map { LivePeople.person($0) }
                let isLast = number == commits - 1
                return LiveCommit(
                    saved: people, audience: isLast ? .everybody : .nobody, sign: .rows(commits * perCommit / cities))
            }
            live.warmUps = 0
            live.limitSeconds = 600
            var resting = live
            resting.restSeconds = 0.1
            return Contest(
                operations: commits * perCommit,
                contenders: LiveContenders.contenders(live) + LiveContenders.resting(resting))
        }
    }

    // MARK: W11: views that come and go

    private var liveStorm: Benchmark {
        let count = workload.liveCommits * 5
        return Benchmark(
            id: "live-storm", title: "W11: \(Format.count(count)) views that come and go",
            method: """
                One after another: a view of one person by the key is made, has its first value, and is given up. Among \
                \(people).
                """,
            budgets: [
                Budget(
                    title: "A view that comes and goes, against a GRDB observation",
                    quantity: .wallRatio(to: ContenderName.observation), limit: .atMost, must: 1, aim: 0.5)
            ]
        ) { _ in
            let questions = (0..<count).map { LiveQuestion.key($0) }
            let live = LiveWorkload(rows: workload.liveRows, questions: questions) { _ in LiveCommit() }
            return Contest(operations: count, contenders: LiveContenders.storm(live))
        }
    }

    // MARK: W10: who reads slowly

    private var liveSlowReader: Benchmark {
        let commits = workload.liveSlowCommits
        return Benchmark(
            id: "live-slow-reader",
            title: "W10: \(Format.count(commits)) commits while a reader of a page takes a second for each value",
            method: """
                One row of the page in each commit, one commit after another. Afterwards until the reader has the last \
                state, or \(Format.number(LiveSlowReader.patienceSeconds)) seconds. GRDB's sequence of values keeps all \
                of them unless set to keep the newest.
                """,
            budgets: [
                Budget(
                    title: "Seconds until a slow reader has the last state",
                    quantity: .metric(LiveSlowReader.behindMetric), limit: .atMost, must: 3, aim: 2)
            ]
        ) { _ in Contest(operations: commits, contenders: LiveSlowReader.contenders(commits: commits)) }
    }

    // MARK: W12: two processes

    private var liveProcesses: Benchmark {
        let commits = workload.liveCommits * 5
        return Benchmark(
            id: "live-processes",
            title: "W12: \(Format.count(commits)) commits of one process that a view of another shows",
            method: """
                From when the commit has returned until the other process has the value; each is waited for, and a pause \
                of up to three milliseconds follows. A wake is lost where the view shows it later than half a second \
                afterwards.
                """,
            budgets: [ContenderName.storageKit, LiveProcesses.fullName].flatMap { name in
                [
                    Budget(
                        title: "\(name): wake-up of another process, p99",
                        quantity: .metricOf(LiveProcesses.lateMetric, name), limit: .atMost, must: 2_000, aim: 1_000),
                    Budget(
                        title: "\(name): lost wakes", quantity: .metricOf(LiveProcesses.lostMetric, name),
                        limit: .atMost, must: 0, aim: 0),
                ]
            }, layout: .curve
        ) { _ in Contest(operations: commits, contenders: LiveProcesses.contenders(commits: commits)) }
    }
}
