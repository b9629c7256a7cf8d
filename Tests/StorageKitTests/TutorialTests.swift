import Foundation
import TestSupport
import Testing

/// The terminal sessions of the tutorial are what its program prints.
@Suite struct TutorialTests {
    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Sources/StorageKit/Documentation.docc/Guides/Tutorial.md")

    /// Built beside the tests.
    private static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("stock")

    @Test("The program of the tutorial prints what the page shows")
    func sessions() async throws {
        let folder = try TemporaryFolder()
        let steps = try Self.steps()
        #expect(steps.count > 10)
        for step in steps {
            #expect(try Self.run(step.command, in: folder.path("stock.sqlite")) == step.output, "\(step.command)")
        }
    }

    private struct Step {
        let command: String
        var output = ""
    }

    /// The commands of blocks of `console`, each with the lines below it.
    private static func steps() throws -> [Step] {
        var steps: [Step] = []
        var isSession = false
        for line in try String(contentsOf: page, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("```") {
                isSession = line == "```console"
            } else if isSession, line.hasPrefix("$ ") {
                steps.append(Step(command: String(line.dropFirst(2))))
            } else if isSession {
                steps[steps.count - 1].output += line + "\n"
            }
        }
        return steps
    }

    /// Runs a command as a shell does in which `stock` is the program.
    private static func run(_ command: String, in store: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "stock() { \"$PROGRAM\" \"$@\"; }\n\(command)"]
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["PROGRAM": program.path, "STOCK": store, "USER": "anna"]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        try process.start()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitForEnd()
        return String(decoding: data, as: UTF8.self)
    }
}
