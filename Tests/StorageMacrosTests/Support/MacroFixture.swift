internal import Foundation
internal import Testing

/// A source in `Fixtures` with what it expands to and what is reported about it.
///
/// `RECORD_FIXTURES=1 swift test --filter StorageMacrosTests` writes the files anew; read the difference before you
/// commit it.
struct MacroFixture: CustomTestStringConvertible {
    let name: String

    var testDescription: String { name }
    var source: URL { file(".in.swift") }
    var expanded: URL { file(".expanded.swift") }
    var diagnostics: URL { file(".diagnostics.txt") }

    static let isRecording = ProcessInfo.processInfo.environment["RECORD_FIXTURES"] == "1"

    /// None where the folder can't be read, which `everyDiagnosticHasAFixture` reports.
    static var all: [MacroFixture] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let names = files.filter { $0.hasSuffix(".in.swift") }.map { $0.dropLast(".in.swift".count) }
        return names.sorted().map { MacroFixture(name: String($0)) }
    }

    /// The text of a file, empty where there is none: nothing reported, or nothing recorded yet.
    func text(of file: URL) throws -> String {
        guard FileManager.default.fileExists(atPath: file.path) else { return "" }
        return try String(contentsOf: file, encoding: .utf8)
    }

    private static let expansions = Result {
        let fixtures = all
        let found = try MacroExpansion.expansions(of: fixtures.map { try $0.text(of: $0.source) })
        return Dictionary(uniqueKeysWithValues: zip(fixtures.map(\.name), found))
    }

    /// What the macros make of it, which is what takes the time of these tests, and so is made once for all of them.
    func expansion() throws -> MacroExpansion { try #require(try Self.expansions.get()[name]) }

    /// Keeps a text; an empty one is kept by there being no file.
    func record(_ text: String, in file: URL) throws {
        if !text.isEmpty {
            try text.write(to: file, atomically: true, encoding: .utf8)
        } else if FileManager.default.fileExists(atPath: file.path) {
            try FileManager.default.removeItem(at: file)
        }
    }

    /// Fixtures are read where they are written, so that recording reaches the repository.
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Fixtures")

    private func file(_ suffix: String) -> URL { Self.folder.appendingPathComponent(name + suffix) }
}
