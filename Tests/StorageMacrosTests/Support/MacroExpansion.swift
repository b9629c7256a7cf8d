internal import Foundation
internal import TestSupport

/// What the macros make of a source, as text that a reviewer can read.
struct MacroExpansion: Sendable {
    /// The source with every macro expanded, under a line that keeps the formatter away: a macro's expansion has the
    /// line breaks that the compiler gives it.
    let expanded: String
    /// The source with carets under what is reported, the fix-its, and the source that they lead to. Empty where
    /// nothing is reported.
    let diagnostics: String
    /// The identifiers of what is reported.
    let identifiers: Set<String>
    /// Syntax errors of the expanded source, which no expansion may have.
    let syntaxErrors: String

    /// Runs the plug-in that the compiler uses, once for all sources: starting it takes as long as expanding some of them.
    static func expansions(of sources: [String]) throws -> [MacroExpansion] {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let input = folder.url.appendingPathComponent("sources")
        try Data(sources.joined(separator: "\0").utf8).write(to: input)
        let process = Process()
        process.executableURL = SwiftCompiler.macros
        process.arguments = ["expand"]
        process.standardInput = try FileHandle(forReadingFrom: input)
        let output = Pipe()
        process.standardOutput = output
        try process.start()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitForEnd()
        let texts = printed.split(separator: 0, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard process.terminationStatus == 0, texts.count == 4 * sources.count + 1 else {
            throw Failure(
                description: "The plug-in ended with \(process.terminationStatus), behind \(texts.count - 1) texts.")
        }
        return sources.indices.map { MacroExpansion(texts[4 * $0..<4 * $0 + 4]) }
    }

    /// - Parameter texts: What the plug-in has printed for one source.
    private init(_ texts: ArraySlice<String>) {
        let texts = Array(texts)
        (expanded, diagnostics, syntaxErrors) = (texts[0], texts[1], texts[3])
        identifiers = Set(texts[2].split(separator: "\n").map(String.init))
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }
}
