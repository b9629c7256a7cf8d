import ArgumentParser
import Foundation
import GRDB
import StorageCore
import StorageKit

/// `storagekit projections`: the status of a store's projections.
struct ProjectionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "projections", abstract: "List, pause, resume or reset projections.",
        discussion: """
            Lists full-text indexes and the program's projections with their checkpoints. Only the program can \
            rebuild a projection or replay its dead letters. A reset empties the tables the next time the program \
            opens the store.

              storagekit projections -s app.sqlite
              storagekit projections -s app.sqlite dead-letters order_totals
              storagekit projections -s app.sqlite pause order_totals
              storagekit projections -s app.sqlite resume order_totals
              storagekit projections -s app.sqlite reset order_totals --dry-run

            Changes are recorded: storagekit log --table storage_operation -p
            """)

    enum Action: String, ExpressibleByArgument, CaseIterable {
        case list
        case deadLetters = "dead-letters"
        case pause, resume, reset
    }

    @Argument(help: "What to do: \(Action.allCases.map(\.rawValue).joined(separator: ", ")).")
    var action = Action.list

    @Argument(help: "The projection.")
    var name: String?

    @OptionGroup var store: StoreOption
    @OptionGroup var change: ChangeOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        let isReading = action == .list || action == .deadLetters
        if isReading, change.dryRun || change.reason != nil || change.yes {
            throw ValidationError("--dry-run, --reason and --yes require pause, resume or reset.")
        }
    }

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "projections")
        switch action {
        case .list: try await list()
        case .deadLetters: try await listDeadLetters()
        case .pause, .resume, .reset: try await change()
        }
    }

    private func list() async throws {
        try write(try await projections().filter { name == nil || $0.name == name })
    }

    private func write(_ found: [ProjectionStatus]) throws {
        let output = ResultOutput(format)
        if output.format == .human {
            try writeText(found, to: output)
        } else {
            for projection in found { try output.record(ProjectionRecord(projection: projection)) }
            try output.finish()
        }
        try output.flush()
    }

    private func projections() async throws -> [ProjectionStatus] {
        let storage = try store.openForReading()
        let found = try await storage.projections.status()
        try await storage.close()
        if let name, !found.contains(where: { $0.name == name }) { throw Self.unknown(name, found) }
        return found
    }

    private static func unknown(_ name: String, _ found: [ProjectionStatus]) -> CommandError {
        let names = found.map(\.name)
        return CommandError(
            .notFound, "There is no projection \"\(name)\".",
            why: StorageError.existing(names, none: "The store has none."),
            next: names.isEmpty ? "A program declares them: schema.addProjection." : "Type: storagekit projections")
    }

    private func listDeadLetters() async throws {
        _ = try await projections()
        let storage = try store.openForReading()
        let letters = try await storage.projections.deadLetters(name)
        try await storage.close()
        let output = ResultOutput(format)
        if output.format == .human {
            var table = TableLayout(
                [.init("projection"), .init("event"), .init("row"), .init("tries", .right), .init("error")],
                width: output.width)
            for letter in letters {
                table.add([
                    TableCell(letter.projection), TableCell("@\(letter.position)"),
                    TableCell(letter.event.target.description), TableCell("\(letter.attempts)"),
                    TableCell(letter.error),
                ])
            }
            if letters.isEmpty {
                try output.line("No dead letters.", .dim)
            } else {
                try output.lines(table.lines(style: output.style))
            }
        } else {
            for letter in letters {
                try output.record(DeadLetterRecord(letter: letter))
            }
            try output.finish()
        }
        try output.flush()
    }

    /// Changes a projection's stored state, which its program reads when it next opens the store.
    private func change() async throws {
        guard let name else {
            throw CommandError(
                .usage, "No projection is named.", next: "Type: storagekit projections \(action.rawValue) NAME")
        }
        let found = try await projections()
        guard let projection = found.first(where: { $0.name == name && $0.kind != "full-text" }) else {
            throw CommandError(
                .usage, "\"\(name)\" is a full-text index, which is part of every commit.",
                next: "Type: storagekit rebuild")
        }
        if change.dryRun { return try writePlan(projection) }
        if action == .reset {
            try change.confirmIfAttended(
                "Empty the tables of \(name) when its program opens the store next. Continue?")
        }
        let instruction = action.instruction
        let operation = try StorageOperation(
            "projections \(action.rawValue)", subject: name, outcome: ProjectionOutcome(projection: projection))
        let metadata = change.metadata
        try await store.write(isDryRun: false) { storage in
            try await storage.engine.withWriter { writer, db in
                guard let projections = writer.userProjections else { throw StorageError.closed() }
                try projections.instruct(name, to: instruction, recording: (operation, metadata), on: writer, db)
            }
        }
        let after = try await projections()
        try OutputFailure.reporting("The change was stored", next: "Type: storagekit projections") {
            try write(after.filter { $0.name == name })
        }
    }
}

extension ProjectionsCommand.Action {
    fileprivate var instruction: ProjectionInstruction {
        switch self {
        case .pause: .pause
        case .reset: .reset
        case .list, .deadLetters, .resume: .resume
        }
    }
}

// MARK: Output

extension ProjectionsCommand {
    private func writePlan(_ projection: ProjectionStatus) throws {
        let output = ResultOutput(format)
        if output.format == .human {
            try output.line(
                "Would be done: \(action.rawValue) \(projection.name), which is \(projection.state.rawValue).")
        } else {
            try output.document(
                ProjectionPlanRecord(
                    name: projection.name, action: action.rawValue, state: projection.state.rawValue))
        }
        try output.flush()
    }

    private func writeText(_ found: [ProjectionStatus], to output: ResultOutput) throws {
        guard !found.isEmpty else { return try output.line("No projections but the tables, which schema lists.", .dim) }
        let grouped = NumberText.grouped
        var table = TableLayout(
            [
                .init("projection"), .init("v", .right), .init("kind"), .init("state"), .init("at", .right),
                .init("lag", .right), .init("events/s", .right), .init("size", .right),
            ], width: output.width)
        for projection in found {
            let rate = projection.eventsPerSecond.map { grouped(Int(min($0, 1e15))) } ?? ""
            table.add([
                TableCell(projection.name), TableCell("\(projection.version)"), TableCell(projection.kind, .dim),
                TableCell(projection.state.rawValue, projection.state == .failed ? .removed : .plain),
                TableCell("@\(projection.position)"), TableCell(grouped(Int(projection.lag))), TableCell(rate),
                TableCell(NumberText.bytes(projection.bytes)),
            ])
        }
        try output.lines(table.lines(style: output.style))
        for projection in found {
            if let error = projection.error {
                let location = projection.failedPosition.map { " at @\($0)" } ?? ""
                try output.line("! \(projection.name) failed\(location): \(error)", .removed)
            }
            if projection.deadLetters > 0 {
                let letters = NumberText.count(projection.deadLetters, "dead letter")
                try output.line(
                    "! \(projection.name) has \(letters): storagekit projections dead-letters \(projection.name)",
                    .removed)
            }
        }
    }

}
