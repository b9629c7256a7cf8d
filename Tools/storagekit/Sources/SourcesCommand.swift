import ArgumentParser
import Foundation
import StorageCore
import StorageKit
import StorageSync

/// `storagekit sources`: the age of query sources' rows, and their failures.
struct SourcesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sources", abstract: "Show the query sources of a store, with their age and last errors.",
        discussion: """
            A query source fetches rows from a remote into the store. Its state is stored with them: the last fetch, \
            the failures since, the last error, and the next attempt. Only the program can fetch. A source that its \
            remote has refused, for example for wrong credentials, is fetched again only on request or when the \
            program restarts.

              storagekit sources -s app.sqlite
              storagekit sources -s app.sqlite TaskSources.all --format json

            Changes by a source: storagekit log --actor TaskSources.all
            """)

    @Argument(help: "The source's name.")
    var name: String?

    @OptionGroup var store: StoreOption
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "sources")
        let storage = try store.openForReading()
        let all = try await storage.engine.read { try QuerySourceStatus.all(in: $0) }
        try await storage.close()
        let found = all.filter { name == nil || $0.source == name }
        if let name, found.isEmpty {
            throw CommandError(
                .notFound, "There is no source \"\(name)\" in the store.",
                why: StorageError.existing(
                    Set(all.map(\.source)).sorted(), none: "None was fetched into it yet."),
                next: "Type: storagekit sources")
        }
        let output = ResultOutput(format)
        if output.format == .human {
            try writeText(found, to: output)
        } else {
            for source in found { try output.record(SourceRecord(source: source)) }
            try output.finish()
        }
        try output.flush()
    }

    private func writeText(_ found: [QuerySourceStatus], to output: ResultOutput) throws {
        guard !found.isEmpty else { return try output.line("No query source was fetched into this store.", .dim) }
        let now = SystemTime.now
        var table = TableLayout(
            [
                .init("source"), .init("parameter"), .init("policy"), .init("fetched"), .init("age", .right),
                .init("failures", .right), .init("next"),
            ], width: output.width)
        for source in found {
            let fetched = source.lastRefresh.map(\.microseconds)
            table.add([
                TableCell(source.source), TableCell(source.parameter), TableCell(source.policy, .dim),
                TableCell(fetched.map(Timestamp.text) ?? "never"),
                TableCell(fetched.map { Age.text(microseconds: now - $0) } ?? ""),
                TableCell("\(source.failures)", source.failures > 0 ? .removed : .plain),
                Self.next(source, now: now),
            ])
        }
        try output.lines(table.lines(style: output.style))
        for source in found {
            guard let error = source.lastError else { continue }
            let name = source.parameter.isEmpty ? source.source : "\(source.source)(\(source.parameter))"
            try output.line("! \(name): \(error)", .removed)
        }
    }

    private static func next(_ source: QuerySourceStatus, now: Int64) -> TableCell {
        if source.isRefused { return TableCell("refused", .removed) }
        let next = source.nextRefresh.map(\.microseconds)
        return TableCell(next.map { $0 <= now ? "when it is shown" : Timestamp.shown($0) } ?? "")
    }

}
