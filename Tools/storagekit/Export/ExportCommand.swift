import ArgumentParser
import Foundation
import GRDB
import StorageCore
import StorageLog
import StorageMaintenance

/// `storagekit export`: writes the log as a change history.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Export the history as JSON Lines, in the format of import.",
        discussion: """
              storagekit export -s app.sqlite > history.jsonl
              storagekit export -s app.sqlite --table users | zstd > users.jsonl.zst
            """)

    @OptionGroup var store: StoreOption

    @Option(name: .long, help: "Only this table; may be repeated.")
    var table: [String] = []

    @Option(name: .long, help: "Only commits by this actor; may be repeated.")
    var actor: [String] = []

    mutating func run() async throws {
        let configuration = StorageConfig(isReadOnly: true)
        let engine = try StorageEngine.openStore(path: store.path(), configuration: configuration)
        var query = LogQuery()
        if !table.isEmpty { query.tables = Set(table) }
        if !actor.isEmpty { query.actors = Set(actor) }
        let wanted = query
        try await engine.read { (db: GRDB.Database) in
            let connection = try db.connection
            let output = StandardOutput()
            let exporter = try HistoryExporter(connection, output: output)
            let bar = ProgressBar("export", total: Int(try LogReader(connection).head().position), unit: "events")
            defer { bar.finish() }
            try exporter.run(wanted) { position, _ in bar.update(Int(position)) }
            try exporter.finish()
            try output.flush()
        }
        try await engine.close()
    }
}
