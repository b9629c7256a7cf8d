/// Benchmarks of live lists, sums and searches.
extension BenchmarkCatalog {
    // MARK: W5: one page

    /// A change of a table of which a page is shown.
    private struct PageEdit {
        let name: String
        let question: LiveQuestion
        let commit: @Sendable (Int) -> LiveCommit
    }

    var livePage: Benchmark {
        let budgets = ["edit inside", "edit outside", "insert at the top", "delete", "move over the end"].map { edit in
            let label = edit == "move over the end" ? ", by score, " + edit : ", by key, " + edit
            return Budget(
                title: "A live page: \(edit), CPU against a GRDB observation",
                quantity: .metricRatio(
                    LiveMetric.cpu, of: ContenderName.storageKit + label, to: ContenderName.observation + label),
                limit: .atMost, must: 1, aim: 0.5)
        }
        return Benchmark(
            id: "live-page", title: "W5: edits of a table of which a page of 50 is shown",
            method: """
                \(Format.count(workload.liveRows)) people; the page is sorted by the key, or by a column without an index. \
                Each commit is one row, and is waited for until the page shows it. An edit outside isn't waited for, as \
                the page shows nothing of it.
                """,
            budgets: budgets, layout: .curve
        ) { _ in
            let contenders = pageEdits(rows: workload.liveRows).enumerated().flatMap { index, edit in
                let live = LiveWorkload(
                    rows: workload.liveRows, questions: [edit.question], commits: workload.liveCommits,
                    limitSeconds: 1, commit: edit.commit)
                return (index == 0 ? LiveContenders.contenders(live, cast: .unwatched) : [])
                    + LiveContenders.contenders(live, ", " + edit.name, cast: [.storageKit, .observations])
            }
            return Contest(operations: workload.liveCommits, contenders: contenders)
        }
    }

    var liveLargePage: Benchmark {
        let rows = workload.liveManyRows
        return Benchmark(
            id: "live-large-page", title: "W5: edits inside of a page of 50 among \(Format.count(rows)) rows",
            method: """
                Sorted by the key. Engine time is what the store says of itself: from before it looks at its state until the \
                page is handed over. The CPU is that of the whole process, of who reads the page too.
                """,
            budgets: [
                Budget(
                    title: "Edit inside a live page of a table of \(Format.count(rows)) rows, engine time",
                    quantity: .metric(LiveMetric.engine), limit: .atMost, must: 100, aim: 30)
            ], layout: .curve
        ) { _ in
            let edit = pageEdits(rows: rows)[0]
            let live = LiveWorkload(
                rows: rows, questions: [edit.question], commits: 5 * workload.liveCommits, commit: edit.commit)
            return Contest(operations: 5 * workload.liveCommits, contenders: LiveContenders.contenders(live))
        }
    }

    private func pageEdits(rows: Int) -> [PageEdit] {
        let page = 50
        let (byKey, byScore) = (LiveQuestion.firstByKey(page), LiveQuestion.highestScores(page))
        let outside: @Sendable (Int) -> LiveCommit = { number in
            LiveCommit(saved: [LivePeople.person(rows / 2 + number % (rows / 4), after: number)])
        }
        let insert: @Sendable (Int) -> LiveCommit = { number in
            var person = LivePeople.person(0, after: number)
            // Before all others by the key, and above them by the score.
            person.id = "a-\(100_000_000 - number)"
            person.score = Double(rows + number)
            return LiveCommit(saved: [person], audience: .view(0), sign: .person(person))
        }
        return [
            PageEdit(name: "by key, edit inside", question: byKey) { Self.edit($0 % page, $0) },
            PageEdit(name: "by key, edit outside", question: byKey, commit: outside),
            PageEdit(name: "by key, insert at the top", question: byKey, commit: insert),
            PageEdit(name: "by key, delete", question: byKey) { Self.delete($0 + page / 2) },
            PageEdit(name: "by score, edit inside", question: byScore) { Self.edit(rows - 1 - $0 % page, $0) },
            PageEdit(name: "by score, edit outside", question: byScore, commit: outside),
            PageEdit(name: "by score, insert at the top", question: byScore, commit: insert),
            PageEdit(name: "by score, delete", question: byScore) { Self.delete(rows - 1 - $0 - page / 2) },
            PageEdit(name: "by score, move over the end", question: byScore) { number in
                var person = LivePeople.person(rows - page / 2, after: number)
                let leaves = number.isMultiple(of: 2)
                if leaves { person.score = -1 }
                return LiveCommit(
                    saved: [person], audience: .view(0), sign: leaves ? .absence(of: person.id) : .person(person))
            },
        ]
    }

    private static func edit(_ place: Int, _ number: Int) -> LiveCommit {
        let person = LivePeople.person(place, after: number)
        return LiveCommit(saved: [person], audience: .view(0), sign: .person(person))
    }

    private static func delete(_ place: Int) -> LiveCommit {
        let key = LivePeople.key(place)
        return LiveCommit(deleted: [key], audience: .view(0), sign: .absence(of: key))
    }

    // MARK: W6: a long list

    var liveScroll: Benchmark {
        let pages = workload.livePages
        let loaded = pages * 50
        return Benchmark(
            id: "live-scroll",
            title: "W6: edits of a list that scrolls, of which \(Format.count(pages)) pages of 50 are loaded",
            method: """
                Each commit changes one of the \(Format.count(loaded)) rows at random, and is waited for until the list has \
                as many rows as before and their ages have the sum that they must have: a row that is missing, twice \
                there or old would end the run.
                """,
            budgets: [
                Budget(
                    title: "Edit in a list of \(Format.count(loaded)) live rows, against a GRDB observation",
                    quantity: .metricRatio(
                        LiveMetric.shownMedian, of: ContenderName.storageKit, to: ContenderName.observation),
                    limit: .atMost, must: 1, aim: 0.5)
            ], layout: .curve
        ) { _ in
            var random = SplitMix64(seed: 17)
            var ages = (0..<loaded).map { Int64($0) }
            var sum = ages.reduce(0, +)
            // Enough for the warm-ups too.
            let commits = (0..<workload.liveCommits + 10).map { number in
                let place = Int.random(in: 0..<loaded, using: &random)
                let person = LivePeople.person(place, after: number)
                sum += person.age - ages[place]
                ages[place] = person.age
                return LiveCommit(saved: [person], audience: .view(0), sign: .ages(sum: sum, rows: loaded))
            }
            let live = LiveWorkload(
                rows: loaded * 2, questions: [.scrolled(pages: pages)], commits: workload.liveCommits
            ) { commits[$0] }
            return Contest(operations: workload.liveCommits, contenders: LiveContenders.contenders(live))
        }
    }

    // MARK: W7: sums

    var liveTotals: Benchmark {
        let rows = workload.liveRows
        return Benchmark(
            id: "live-totals", title: "W7: totals of \(Format.count(rows)) people while the greatest is deleted",
            method: """
                Count, sum, mean, least and greatest score of all people; and count, sum and greatest score for each of \
                \(LivePeople.cityCount) cities. Each commit deletes the person with the greatest score.
                """,
            budgets: ["", ", by city"].map { label in
                Budget(
                    title: "Totals\(label), CPU of a commit against a GRDB observation",
                    quantity: .metricRatio(
                        LiveMetric.cpu, of: ContenderName.storageKit + label, to: ContenderName.observation + label),
                    limit: .atMost, must: 0.1, aim: 0.02)
            }, layout: .curve
        ) { _ in
            let totals = LiveWorkload(rows: rows, questions: [.totals], commits: workload.liveCommits) { number in
                let place = rows - 1 - number
                return LiveCommit(
                    deleted: [LivePeople.key(place)], audience: .view(0), sign: .greatest(Double(place - 1)))
            }
            let byCity = LiveWorkload(rows: rows, questions: [.totalsByCity], commits: workload.liveCommits) { number in
                let place = rows - 1 - number
                let next = place - LivePeople.cityCount
                return LiveCommit(
                    deleted: [LivePeople.key(place)], audience: .view(0),
                    sign: .greatestOfCity(Double(next), LivePeople.city(next % LivePeople.cityCount)))
            }
            return Contest(
                operations: workload.liveCommits,
                contenders: LiveContenders.contenders(totals)
                    + LiveContenders.contenders(byCity, ", by city", cast: [.storageKit, .observations]))
        }
    }

    // MARK: W8: searches

    var liveSearch: Benchmark {
        let count = workload.documents
        let kinds = ["common word", "rare word", "prefix", "phrase"]
        return Benchmark(
            id: "live-search", title: "W8: live searches among \(Format.count(count)) documents",
            method: """
                The best \(LiveSearch.limit) by BM25, with ranks. Each commit changes a document that stays the best; with \
                "another document", one that the search doesn't find, which isn't waited for. GRDB gets a finished FTS5 \
                expression and SQL of its own.
                """,
            budgets: kinds.map { kind in
                Budget(
                    title: "A live search (\(kind)), CPU of a commit against a GRDB observation",
                    quantity: .metricRatio(
                        LiveMetric.cpu, of: ContenderName.storageKit + ", " + kind,
                        to: ContenderName.observation + ", " + kind), limit: .atMost, must: 1, aim: 0.5)
            }, layout: .curve
        ) { _ in
            let words = DocumentGenerator(seed: 5).vocabulary
            let (common, next, rare) = (words[10], words[11], words[words.count - 10])
            let searches = [
                (kinds[0], LiveSearch(text: common, expression: "\"\(common)\""), common),
                (kinds[1], LiveSearch(text: rare, expression: "\"\(rare)\""), rare),
                (kinds[2], LiveSearch(text: rare.prefix(3) + "*", expression: "\"\(rare.prefix(3))\" *"), rare),
                (
                    kinds[3], LiveSearch(text: "\"\(common) \(next)\"", expression: "\"\(common) \(next)\""),
                    common + " " + next
                ),
            ]
            let contenders = searches.enumerated().flatMap { index, search in
                let (kind, question, words) = search
                let live = liveSearch(question) { number in
                    let document = Self.document(words, number)
                    return LiveCommit(documents: [document], audience: .view(0), sign: .title(document.title))
                }
                return (index == 0 ? LiveContenders.contenders(live, cast: .unwatched) : [])
                    + LiveContenders.contenders(live, ", " + kind, cast: [.storageKit, .observations])
            }
            let other = liveSearch(searches[0].1) { LiveCommit(documents: [Self.document("nothing of that", $0)]) }
            return Contest(
                operations: workload.liveCommits,
                contenders: contenders
                    + LiveContenders.contenders(
                        other, ", another document", cast: [.storageKit, .observations]))
        }
    }

    private func liveSearch(
        _ search: LiveSearch, commit: @escaping @Sendable (Int) -> LiveCommit
    ) -> LiveWorkload {
        LiveWorkload(
            documents: workload.documents, questions: [.search(search)], commits: workload.liveCommits, commit: commit)
    }

    /// The same document again and again, with another title: the words fill it, so no other fits better.
    private static func document(_ words: String, _ number: Int) -> Document {
        let many = Array(repeating: words, count: 8).joined(separator: " ")
        return Document(id: "live", title: "\(many) \(number)", body: many, updatedAt: Int64(number))
    }
}
