/// How much of everything there is.
struct Workload {
    var savedRows = 100_000
    var concurrentSaves = 1_000
    var consecutiveSaves = 500
    /// Updates of three columns, spread evenly over `updatedRows` rows.
    var updates = 100_000
    var updatedRows = 10_000
    var largeLog = LargeLog(events: 10_000_000)
    var randomLog = RandomLog(events: 10_000_000)
    var versionedLog = VersionedLog(rows: 40_000)
    /// Look-ups of one row's history in the large log.
    var historyLookUps = 1_000
    /// Look-ups of rows by their key among `savedRows`.
    var lookUps = 10_000
    var queries = 1_000
    var documents = 20_000
    var documentsPerCommit = 1_000
    /// Documents that are inserted with a commit each.
    var singleDocuments = 2_000
    var searches = 1_000
    var asOfRows = 5_000
    var asOfEvents = 1_000_000
    /// People in the tables that views look at, usually, in small ones and in large ones.
    var liveRows = 100_000
    var liveFewRows = 10_000
    var liveManyRows = 1_000_000
    var liveCommits = 200
    /// How many views there are, one run each: where an index finds what they ask for first, and where none does.
    var liveSizes = [1, 10, 100, 1_000, 10_000, 100_000]
    var liveFewerSizes = [1, 100, 1_000, 10_000]
    var liveFewSizes = [1, 100, 1_000]
    var livePages = 200
    var liveImportCommits = 100
    var liveSlowCommits = 10_000

    /// How long the logs are in which the same is measured: powers of ten, and the large log's length.
    var growthSizes: [Int] {
        [10_000, 100_000, 1_000_000, 10_000_000].filter { $0 * 2 <= largeLog.events } + [largeLog.events]
    }

    /// Enough to see that everything works; the numbers mean nothing.
    static var quick: Workload {
        Workload(
            savedRows: 2_000, concurrentSaves: 50, consecutiveSaves: 20, updates: 2_000, updatedRows: 200,
            largeLog: LargeLog(events: 20_000), randomLog: RandomLog(events: 20_000),
            versionedLog: VersionedLog(rows: 1_000), historyLookUps: 50,
            lookUps: 200, queries: 50, documents: 500, documentsPerCommit: 100, singleDocuments: 100, searches: 50,
            asOfRows: 100,
            asOfEvents: 5_000, liveRows: 2_000, liveFewRows: 1_000, liveManyRows: 3_000, liveCommits: 20,
            liveSizes: [1, 10, 100], liveFewerSizes: [1, 100], liveFewSizes: [1, 10], livePages: 10,
            liveImportCommits: 3, liveSlowCommits: 100)
    }
}
