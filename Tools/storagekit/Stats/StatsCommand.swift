import ArgumentParser
import StorageKit

/// `storagekit stats`: the amount of data in a store and its size.
struct StatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Count events, commits, rows and bytes.",
        discussion: """
            Reads the whole log once.

              storagekit stats -s app.sqlite
              storagekit stats -s app.sqlite --format json
            """)

    @OptionGroup var store: StoreOption
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "stats")
        let command = self
        let path = try store.path()
        try await store.read { store in
            let bar = ProgressBar("stats", total: Int(store.head.position), unit: "events")
            defer { bar.finish() }
            let stats = try StoreStats(store, path: path) { bar.update(Int($0)) }
            bar.finish()
            let output = ResultOutput(command.format)
            if output.format == .human {
                try output.lines(stats.lines(style: output.style, width: output.width))
            } else {
                try output.document(stats.record)
            }
            try output.flush()
        }
    }
}
