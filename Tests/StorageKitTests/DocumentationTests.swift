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

    /// Modules whose comments have no example that isn't compiled.
    private static let modules = ["StorageKit", "StorageServer", "StorageSQLiteClient", "StorageSQLiteNIO"]

    /// Each line of an example in a comment stands, in its order, among the module's compiled examples. A line with … is
    /// for the reader.
    @Test("Every line of an example in a comment is compiled", arguments: modules)
    func examplesOfCommentsAreCompiled(module: String) throws {
        // A store as a client is compiled with the other clients.
        let modules = module == "StorageKit" ? [module, "StorageSQLiteClient"] : [module]
        let compiled = try modules.flatMap { try Self.lines("Tests/\($0)Tests/CommentExamples.swift") }
        let folder = Self.root.appendingPathComponent("Sources/\(module)")
        let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        var count = 0
        for file in files.sorted() where file.hasSuffix(".swift") {
            var index: Int?
            for line in try Self.lines("Sources/\(module)/\(file)") {
                let text = line.hasPrefix("///") ? line.dropFirst(3).trimmingCharacters(in: .whitespaces) : nil
                guard let text, !text.hasPrefix("```") else {
                    index = text == "```swift" ? 0 : nil
                    if index != nil { count += 1 }
                    continue
                }
                guard let start = index, !text.isEmpty, !text.contains("…") else { continue }
                let found = compiled[start...].firstIndex(of: text)
                #expect(found != nil, "\(file): \(text)")
                index = found.map { $0 + 1 } ?? start
            }
        }
        #expect(count > 5)
    }

    private static func lines(_ path: String) throws -> [String] {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test("The examples run")
    func examplesRun() async throws {
        let folder = try TemporaryFolder()
        try await ReadmeExample.run(URL(fileURLWithPath: folder.path("readme.sqlite")))
        try await TourExample.run(URL(fileURLWithPath: folder.path("tour.sqlite")))
        try await ProjectionExample.run(URL(fileURLWithPath: folder.path("projections.sqlite")))
        try await LiveExample.run(URL(fileURLWithPath: folder.path("live.sqlite")))
        #expect(
            try await RelationshipExamples.run(URL(fileURLWithPath: folder.path("relationships.sqlite")))
                == "[0, 1] [1, 1]\n0 0 1\n[1, 1]\n[2, 1]\n1: 1\n[1985, 1985]\n1 1\n")
        try await CookbookExample.run(URL(fileURLWithPath: folder.path("cookbook.sqlite")))
        try await MovingFromGRDBExample.run(folder.url)
        try await MovingFromCoreDataExample.run(URL(fileURLWithPath: folder.path("memos.sqlite")))
        // On a store without such a table the declared changes have nothing to do.
        _ = try StorageKit.inMemory { TourExample.declare(&$0) }
    }
}
