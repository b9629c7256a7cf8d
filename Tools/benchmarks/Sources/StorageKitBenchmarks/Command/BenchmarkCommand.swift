import ArgumentParser
import Foundation

@main
struct BenchmarkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storagekit-benchmarks",
        abstract: "Measures StorageKit against GRDB and against plain SQLite in C, on this machine.",
        discussion: """
            Build with -c release. Contenders run in interleaved rounds, so that their ratios hold on a busy machine too.
            """,
        subcommands: [FollowCommand.self])

    @Option(help: "Run only benchmarks whose name contains this text. May be given several times.")
    var filter: [String] = []

    @Option(help: "Run only contenders whose name contains this text. May be given several times.")
    var contender: [String] = []

    @Option(help: "How often each contender runs. (default: 5, with --quick 2)")
    var rounds: Int?

    @Flag(help: "Small counts, to see that everything works.")
    var quick = false

    @Flag(help: "List the benchmarks and run nothing.")
    var list = false

    @Option(help: "A change history to import, JSON Lines or .zst. May be given several times.", completion: .file())
    var history: [String] = []

    @Option(help: "Events in the large logs. (default: 10000000, with --quick 20000)")
    var events: Int?

    @Option(help: "Write the report to this file, and its chart beside it, as NAME.growth.svg.", completion: .file())
    var report: String?

    @Option(help: "The date for the report. (default: today)")
    var date: String?

    @Option(
        help: "Keep databases in this directory; the large logs are reused by the next run. (default: a temporary one)",
        completion: .directory)
    var workDirectory: String?

    func validate() throws {
        if let rounds, rounds < 1 { throw ValidationError("--rounds must be at least 1.") }
        if let events, events < 100 { throw ValidationError("--events must be at least 100.") }
    }

    func run() async throws {
        let chosen = catalog.benchmarks.filter { benchmark in
            filter.isEmpty || filter.contains { benchmark.id.contains($0) }
        }
        guard !chosen.isEmpty else { throw ValidationError("No benchmark matches. See --list.") }
        if list {
            for benchmark in chosen { print("\(benchmark.id)\t\(benchmark.title)") }
            return
        }
        let root = try makeRoot()
        do {
            try await measure(chosen, in: root)
        } catch {
            try removeTemporary(root)
            throw error
        }
        try removeTemporary(root)
    }

    private var catalog: BenchmarkCatalog {
        var workload = quick ? Workload.quick : Workload()
        if let events {
            workload.largeLog = LargeLog(events: events)
            workload.randomLog = RandomLog(events: events)
        }
        return BenchmarkCatalog(
            workload: workload, histories: history.map { HistoryFile(source: URL(fileURLWithPath: $0)) })
    }

    /// The report is written after every benchmark: a long run that is interrupted leaves what it has found.
    private func measure(_ benchmarks: [Benchmark], in root: URL) async throws {
        let runner = Runner(rounds: rounds ?? (quick ? 2 : 5), root: root, names: contender) { line in
            FileHandle.standardError.write(Data((line + "\n").utf8))
        }
        let machine = Machine(directory: root)
        let file = report.map { URL(fileURLWithPath: $0) }
        let chart = file?.deletingPathExtension().appendingPathExtension("growth.svg")
        var page = ""
        var results: [BenchmarkResult] = []
        for benchmark in benchmarks {
            results.append(try await runner.run(benchmark))
            let report = Report(
                date: date ?? today, rounds: runner.rounds, isQuick: quick, machine: machine, results: results,
                chartName: chart?.lastPathComponent)
            page = report.text
            if let chart { try report.chart?.svg.write(to: chart, atomically: true, encoding: .utf8) }
            if let file { try page.write(to: file, atomically: true, encoding: .utf8) }
        }
        print(page, terminator: "")
    }

    private var today: String {
        Date.now.formatted(.iso8601.year().month().day())
    }

    private func makeRoot() throws -> URL {
        let root =
            workDirectory.map { URL(fileURLWithPath: $0, isDirectory: true) }
            ?? FileManager.default.temporaryDirectory
            .appendingPathComponent("storagekit-benchmarks-" + UUID().uuidString, isDirectory: true)
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        return root
    }

    private func removeTemporary(_ root: URL) throws {
        if workDirectory == nil { try FileManager.default.removeItem(at: root) }
    }
}
