import Foundation
import StorageKit
import TestSupport
import Testing

/// What the pages show is what compiles, and it runs.
@Suite struct DocumentationTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Pages that show code.
    private static let pages: [String] = {
        let catalogue = root.appendingPathComponent("Sources/StorageKit/Documentation.docc")
        let files = FileManager.default.enumerator(atPath: catalogue.path)?.compactMap { $0 as? String } ?? []
        return ["README.md"]
            + files.filter { $0.hasSuffix(".md") }.sorted().map { "Sources/StorageKit/Documentation.docc/\($0)" }
            .filter { (try? lines($0).contains("```swift")) ?? true }
    }()

    /// Where examples are compiled.
    private static let sources = [
        "StorageKitTests/DocumentationExamples.swift", "StorageKitTests/CookbookExamples.swift",
        "StorageKitTests/MovingExamples.swift", "StorageKitTests/RelationshipExamples.swift",
        "../Examples/Stock/Stock.swift", "../Examples/Stock/Main.swift",
        "StorageSQLiteClientTests/ClientExamples.swift",
        "StorageSQLiteClientTests/NIOExamples.swift", "StorageSyncTests/SourceExamples.swift",
        "StorageSyncTests/Engines/SyncExamples.swift", "StorageServerTests/HubExamples.swift",
        "StorageSignalsTests/SignalExamples.swift", "StorageHTTPTests/RESTExamples.swift",
        "StorageUITests/StandIn/DocumentationExample.swift",
        "../Examples/Reader/Reader.swift", "../Examples/Reader/Story.swift",
    ]

    private static let compiled = Result { try sources.flatMap { try lines("Tests/\($0)") } }

    /// Each line of an example is among the compiled examples, in the same order.
    @Test("Every line of an example is compiled", arguments: pages)
    func examplesAreCompiled(page: String) throws {
        let compiled = try Self.compiled.get()
        var isExample = false
        var index = 0
        for line in try Self.lines(page) {
            if line.hasPrefix("```") {
                isExample = line == "```swift"
                index = 0
                continue
            }
            guard isExample, !line.isEmpty, !line.hasPrefix("import ") else { continue }
            let found = compiled[index...].firstIndex(of: line)
            #expect(found != nil, "\(page): \(line)")
            index = found.map { $0 + 1 } ?? index
        }
    }

    /// The codes of the public error types, and the headings of the page about them.
    @Test("Every error code has a section")
    func errorCodes() throws {
        let declaration = /static let \w+ = (?:StorageError\.)?Code\("([^"]+)"\)/
        let sources = Self.root.appendingPathComponent("Sources")
        let files = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String } ?? []
        var codes: Set<String> = []
        for file in files where file.hasSuffix(".swift") {
            let text = try String(contentsOf: sources.appendingPathComponent(file), encoding: .utf8)
            codes.formUnion(text.matches(of: declaration).map { String($0.1) })
        }
        let sections = try Self.lines("Sources/StorageKit/Documentation.docc/Reference/Errors.md")
            .filter { $0.hasPrefix("### ") }.map { String($0.dropFirst(4)) }
        #expect(codes.count > 40)
        #expect(sections.count == Set(sections).count)
        #expect(codes.symmetricDifference(sections).isEmpty)
    }

    /// Every module with an example in a comment.
    private static let modules = [
        "StorageCore", "StorageEntities", "StorageHistory", "StorageHTTP", "StorageKit", "StorageLifecycle",
        "StorageLog", "StorageMaintenance", "StorageProjections", "StorageRecords", "StorageRouting", "StorageServer",
        "StorageSignals", "StorageSQLiteClient", "StorageSQLiteNIO", "StorageSync", "StorageTesting", "StorageUI",
        "StorageViews",
    ]

    /// The lines of each file in which the examples of comments are compiled, without empty ones.
    private static let commentExamples = Result {
        try files(in: "Tests") { $0.lastPathComponent.hasPrefix("CommentExamples") }.map { path in
            try lines(path).filter { !$0.isEmpty }
        }
    }

    /// The examples of a module's comments, each as runs of lines that belong together: an empty line and a line with …, which is
    /// for the reader, end a run.
    private static func examples(of module: String) throws -> [(file: String, runs: [[String]])] {
        var examples: [(file: String, runs: [[String]])] = []
        for file in try files(in: "Sources/\(module)", where: { $0.pathExtension == "swift" }) {
            var isExample = false
            for line in try lines(file) {
                let text = line.hasPrefix("///") ? line.dropFirst(3).trimmingCharacters(in: .whitespaces) : nil
                guard let text, !text.hasPrefix("```") else {
                    isExample = text == "```swift"
                    if isExample { examples.append((file, [[]])) }
                    continue
                }
                guard isExample else { continue }
                if text.isEmpty || text.contains("…") {
                    examples[examples.count - 1].runs.append([])
                } else {
                    let last = examples[examples.count - 1].runs.count - 1
                    examples[examples.count - 1].runs[last].append(text)
                }
            }
        }
        return examples
    }

    @Test("Every example in a comment is compiled as it stands", arguments: modules)
    func examplesOfCommentsAreCompiled(module: String) throws {
        let compiled = try Self.commentExamples.get()
        let examples = try Self.examples(of: module)
        #expect(!examples.isEmpty)
        for (file, runs) in examples {
            for run in runs {
                let isCompiled = compiled.contains { $0.contains(run) }
                #expect(isCompiled, "\(file): \(run.joined(separator: "\n"))")
            }
        }
    }

    /// Calls that the compiler makes: of `for await`, and of result builders.
    private static let implicitCalls: Set = [
        "makeAsyncIterator", "buildArray", "buildBlock", "buildEither", "buildExpression", "buildLimitedAvailability",
        "buildOptional",
    ]

    /// Every name that an example calls, in a comment or on a page.
    private static func calledNames() throws -> Set<String> {
        let call = /(\w+)`?\s*[({]/
        var names: Set<String> = []
        for path in try pages + files(in: "Sources", where: { $0.pathExtension == "swift" }) {
            var isExample = false
            for line in try lines(path) {
                let text = line.hasPrefix("///") ? line.dropFirst(3).trimmingCharacters(in: .whitespaces) : line
                if text.hasPrefix("```") {
                    isExample = text == "```swift"
                } else if isExample {
                    names.formUnion(text.matches(of: call).map { String($0.1) })
                }
            }
        }
        return names
    }

    @Test(
        "An example shows each public call",
        arguments: ["StorageHTTP", "StorageKit", "StorageLifecycle", "StorageProjections", "StorageViews"])
    func callsHaveExamples(module: String) throws {
        let declaration = /^(?:@\w+ |override )*public (?:static |mutating |nonisolated )*func `?([a-z]\w*)/
        let called = try Self.calledNames().union(Self.implicitCalls)
        for path in try Self.files(in: "Sources/\(module)", where: { $0.pathExtension == "swift" }) {
            let names = try Self.lines(path).compactMap { $0.firstMatch(of: declaration).map { String($0.1) } }
            let missing = names.filter { !called.contains($0) }
            #expect(missing.isEmpty, "\(path): \(missing.joined(separator: ", "))")
        }
    }

    @Test("No module has examples that aren't compiled")
    func examplesOfAllModules() throws {
        let folders = try FileManager.default.contentsOfDirectory(
            atPath: Self.root.appendingPathComponent("Sources").path)
        let modules = try folders.filter { try !Self.examples(of: $0).isEmpty }
        #expect(modules.sorted() == Self.modules.sorted())
    }

    /// The paths of the files in a folder, from the root on, in order.
    private static func files(in folder: String, where isIncluded: (URL) -> Bool) throws -> [String] {
        let url = root.appendingPathComponent(folder)
        return try FileManager.default.subpathsOfDirectory(atPath: url.path).sorted()
            .filter { isIncluded(url.appendingPathComponent($0)) }.map { "\(folder)/\($0)" }
    }

    private static func lines(_ path: String) throws -> [String] {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// What the guide "Relationships" shows of a live query's explanation.
    private static let explanation = """
        incremental
          directors: every change is looked at
          films (has, directorId = id): every change is looked at
          films (include, directorId = id): found by directorId among 2 values

        """

    @Test("The examples run")
    func examplesRun() async throws {
        let folder = try TemporaryFolder()
        try await ReadmeExample.run(URL(fileURLWithPath: folder.path("readme.sqlite")))
        try await TourExample.run(URL(fileURLWithPath: folder.path("tour.sqlite")))
        try await ProjectionExample.run(URL(fileURLWithPath: folder.path("projections.sqlite")))
        try await LiveExample.run(URL(fileURLWithPath: folder.path("live.sqlite")))
        #expect(
            try await RelationshipExamples.run(URL(fileURLWithPath: folder.path("relationships.sqlite")))
                == "[0, 1] [1, 1]\n0 0 1\n[1, 1]\n[2, 1]\n1: 1\n\(Self.explanation)[1985, 1985]\n1 1\n")
        #expect(
            try Self.lines("Sources/StorageKit/Documentation.docc/Guides/Relationships.md").joined(separator: "\n")
                .contains(Self.explanation.replacing("\n  ", with: "\n")))
        try await CookbookExample.run(URL(fileURLWithPath: folder.path("cookbook.sqlite")))
        try await MovingFromGRDBExample.run(folder.url)
        try await MovingFromCoreDataExample.run(URL(fileURLWithPath: folder.path("memos.sqlite")))
        // On a store without such a table the declared changes have nothing to do.
        _ = try StorageKit.inMemory { TourExample.declare(&$0) }
    }
}
