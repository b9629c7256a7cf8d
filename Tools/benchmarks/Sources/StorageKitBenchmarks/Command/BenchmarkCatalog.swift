/// All benchmarks there are, in the order of the report.
struct BenchmarkCatalog {
    let workload: Workload
    let histories: [HistoryFile]

    static let logBytesMetric = "log bytes per event"

    let generator = PersonGenerator(seed: 42)

    var benchmarks: [Benchmark] {
        [saveMany, saveConcurrently, saveOneByOne, readAll, lookUp, lookUpInOneTransaction, query]
            + [insertDocuments, insertSingleDocuments, search, searchWithSnippets] + histories.map(importHistory)
            + [rebuild, rebuildVersions, rebuildLarge] + histories.map(rebuildHistory)
            + [replay, logSize, rowHistory, open, peakMemory, asOf, asOfRandom, growth] + [toolOnLargeLog]
            + histories.map(logSizeOfHistory)
            + histories.map(toolOnHistory) + client + live
    }
}
