/// Benchmarks of full-text search, against an FTS5 table with external content built by hand.
extension BenchmarkCatalog {
    private var documents: DocumentGenerator { DocumentGenerator(seed: 5) }
    private static let searchLimit = 20

    var insertDocuments: Benchmark {
        let (count, perCommit) = (workload.documents, workload.documentsPerCommit)
        return Benchmark(
            id: "search-insert",
            title: "Insert \(Format.count(count)) documents into a full-text index",
            method: """
                A title of 4 to 8 and a body of 40 to 120 words each, both indexed, tokenizer `porter`; \
                \(Format.count(perCommit)) a commit, durability full. In GRDB an FTS5 table with external content, kept \
                in step by triggers. What a contender takes longer than without the index is its cost of indexing. \
                StorageKit seals its log within the clock.
                """,
            budgets: [
                Budget(
                    title: "Insert documents with an index, against GRDB Codable records",
                    quantity: .wallRatio(to: ContenderName.codableRecord), limit: .atMost, must: 1, aim: 0.9),
                Budget(
                    title: "Insert documents with an index, against GRDB hand-written records",
                    quantity: .wallRatio(to: ContenderName.handwrittenRecord), limit: .atMost, must: 1, aim: 0.9),
                Budget(
                    title: "Cost of indexing, against a hand-built FTS5 table",
                    quantity: .addedWallRatio(
                        over: ContenderName.storageKitWithoutIndex, to: ContenderName.cachedStatement,
                        overPlain: ContenderName.cachedStatementWithoutIndex), limit: .atMost, must: 1.25, aim: 1),
            ]
        ) { _ in
            let all = documents.documents(count)
            let probe = documents.searches(1, among: count)[0].split(separator: " ").first.map(String.init) ?? ""
            let batches = DocumentBatches(
                documents: all, perCommit: perCommit, probe: probe,
                probeCount: try GRDBDocuments.rowsFound([probe], limit: count, among: all))
            return Contest(
                operations: count,
                contenders: GRDBContenders.insert(batches) + StorageKitContenders.insert(batches))
        }
    }

    var insertSingleDocuments: Benchmark {
        let count = workload.singleDocuments
        return Benchmark(
            id: "search-insert-single",
            title: "Insert \(Format.count(count)) documents into a full-text index, one a commit",
            method: """
                As before, but one document a commit, one commit after another, into a table and an index of \
                \(Format.count(workload.documents)) documents. StorageKit seals its log within the clock.
                """,
            budgets: [ContenderName.handwrittenRecord, ContenderName.cachedStatement].map { peer in
                Budget(
                    title: "One document a commit into a full-text index, against a \(peer)",
                    quantity: .cpuRatio(to: peer), limit: .atMost, must: 1.5, aim: 1)
            }
        ) { _ in
            let all = documents.documents(workload.documents + count)
            let batches = DocumentBatches(
                before: all.prefix(workload.documents), documents: Array(all.suffix(count)), perCommit: 1,
                probe: documents.vocabulary[200],
                probeCount: try GRDBDocuments.rowsFound([documents.vocabulary[200]], limit: all.count, among: all))
            return Contest(
                operations: count,
                contenders: GRDBContenders.insert(batches) + StorageKitContenders.insert(batches))
        }
    }

    var search: Benchmark {
        Benchmark(
            id: "search",
            title: """
                \(Format.count(workload.searches)) searches among \(Format.count(workload.documents)) documents
                """,
            method: """
                One to three words of a document, the hundred commonest left out; the best \(Self.searchLimit) by BM25, \
                rows and ranks. GRDB gets a finished FTS5 expression and SQL of its own, StorageKit what a person types.
                """,
            budgets: Self.readBudgets("A search")
        ) { _ in
            let searches = try searches()
            return Contest(
                operations: searches.texts.count,
                contenders: GRDBContenders.search(searches) + StorageKitContenders.search(searches))
        }
    }

    var searchWithSnippets: Benchmark {
        Benchmark(
            id: "search-snippets",
            title: """
                \(Format.count(workload.searches)) searches with snippets among \
                \(Format.count(workload.documents)) documents
                """,
            method: "The same searches, with up to 32 words around the match of each row.",
            budgets: Self.readBudgets("A search with snippets")
        ) { _ in
            let searches = try searches()
            return Contest(
                operations: searches.texts.count,
                contenders: GRDBContenders.searchWithSnippets(searches)
                    + StorageKitContenders.searchWithSnippets(searches))
        }
    }

    private func searches() throws -> DocumentSearches {
        let all = documents.documents(workload.documents)
        let texts = documents.searches(workload.searches, among: workload.documents)
        return DocumentSearches(
            documents: all, texts: texts, limit: Self.searchLimit,
            rows: try GRDBDocuments.rowsFound(texts, limit: Self.searchLimit, among: all))
    }
}
