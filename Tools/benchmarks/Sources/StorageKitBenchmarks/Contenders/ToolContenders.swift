import Foundation

/// Commands of the command-line tool on a store that is there already, each in a process of its own.
enum ToolContenders {
    static let firstLineMetric = "first line ms"
    static let wholeMetric = "whole ms"
    static let peakMetric = "peak MB"

    /// What is asked of the past, and what goes through all of it.
    static let names = (
        log: "log", history: "history ROW", diff: "diff, newest events", middleDiff: "diff, events in the middle",
        asOf: "at MIDDLE", export: "export", rebuild: "rebuild"
    )

    /// - Parameter events: How many events the differences are of, at most.
    static func contenders(_ tool: StorageKitTool, store: String, events: Int) throws -> [Contender] {
        func answer(_ arguments: [String]) throws -> [String: Any] {
            let line = try tool.run(arguments + ["-s", store, "--format", "jsonl"]).firstLine
            return try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
        }
        guard let head = try answer(["log", "-n", "1"])["to"] as? Int else {
            throw BenchmarkError("\(store) has no commit.")
        }
        let middle = head / 2
        // The row of the event in the middle.
        let row = try answer(["diff", "@\(middle - 1)", "@\(middle)"])
        guard let table = row["table"] as? String, let id = row["id"] as? String else {
            throw BenchmarkError("\(store) has no row that changed at @\(middle).")
        }
        let stretch = min(events, head / 4)
        let commands: [(String, [String])] = [
            (names.log, ["log", "--format", "jsonl"]),
            (names.history, ["history", "\(table)/\(id)", "--format", "jsonl"]),
            (names.diff, ["diff", "@\(head - stretch)", "--format", "jsonl"]),
            (names.middleDiff, ["diff", "@\(middle - stretch)", "@\(middle)", "--format", "jsonl"]),
            (names.asOf, ["at", "@\(middle)", "SELECT count(*) FROM \"\(table)\""]),
            (names.export, ["export"]),
            (names.rebuild, ["rebuild", "--yes"]),
        ]
        return commands.map { name, arguments in
            Contender(
                name: name, prepare: { _ in },
                run: {
                    let run = try tool.run(arguments + ["-s", store])
                    return [
                        Metric(name: firstLineMetric, value: run.secondsToFirstLine * 1_000),
                        Metric(name: wholeMetric, value: run.seconds * 1_000),
                    ] + (run.peakBytes.map { [Metric(name: peakMetric, value: $0 / 1_000_000)] } ?? [])
                }, cleanup: {})
        }
    }
}
