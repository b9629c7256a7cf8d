import ArgumentParser
import Foundation
import GRDB
import StorageKit

/// `storagekit export`: writes the log as a change history.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Export the history as JSON Lines, in the format of import.",
        discussion: """
            What was dropped is in the history too: a column or table whose name is in use again is exported as \
            "name (gone)".

              storagekit export -s app.sqlite > history.jsonl
              storagekit export -s app.sqlite --table users | zstd > users.jsonl.zst
            """)

    @OptionGroup var store: StoreOption

    @Option(name: .long, help: "Only this table; may be repeated.")
    var table: [String] = []

    @Option(name: .long, help: "Only commits by this actor; may be repeated.")
    var actor: [String] = []

    mutating func run() async throws {
        var query = LogQuery()
        if !table.isEmpty { query.tables = Set(table) }
        if !actor.isEmpty { query.actors = Set(actor) }
        let wanted = query
        try await store.read { store in
            let output = StandardOutput()
            let exporter = try HistoryExporter(store, output: output)
            for name in wanted.tables ?? [] where !exporter.tables.containsExactly(name) {
                // Also of a table without a history, and one that is misspelt.
                _ = try EntityNames(store).users(named: name)
                throw CommandError(missingTable: name, among: exporter.tables.sorted())
            }
            let bar = ProgressBar("export", total: Int(store.head.position), unit: "events")
            defer { bar.finish() }
            try exporter.run(wanted) { position, _ in bar.update(Int(position)) }
            try exporter.finish()
            try output.flush()
        }
    }
}
