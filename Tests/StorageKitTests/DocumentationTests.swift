import Foundation
import StorageKit
import Testing

/// What the pages show is what compiles, and it runs.
@Suite struct DocumentationTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static let pages: [String] = {
        let catalogue = root.appendingPathComponent("Sources/StorageKit/Documentation.docc")
        let files = FileManager.default.enumerator(atPath: catalogue.path)?.compactMap { $0 as? String } ?? []
        return ["README.md"]
            + files.filter { $0.hasSuffix(".md") }.sorted().map { "Sources/StorageKit/Documentation.docc/\($0)" }
    }()

    /// Where examples are compiled.
    private static let compiled = [
        "StorageKitTests/DocumentationExamples.swift", "StorageSQLiteClientTests/ClientExamples.swift",
        "StorageSQLiteClientTests/NIOExamples.swift", "StorageSyncTests/SourceExamples.swift",
        "StorageSyncTests/Engines/SyncExamples.swift", "StorageServerTests/HubExamples.swift",
        "StorageHTTPTests/RESTExamples.swift", "../Examples/Reader/Reader.swift", "../Examples/Reader/Story.swift",
    ]

    /// Each line of an example stands, in its order, among the compiled examples.
    @Test("Every line of an example is compiled", arguments: pages)
    func examplesAreCompiled(page: String) throws {
        let compiled = try Self.compiled.flatMap { try Self.lines("Tests/\($0)") }
        var isExample = false
        var place = 0
        for line in try Self.lines(page) {
            if line.hasPrefix("```") {
                isExample = line == "```swift"
                place = 0
                continue
            }
            guard isExample, !line.isEmpty, !line.hasPrefix("import ") else { continue }
            let found = compiled[place...].firstIndex(of: line)
            #expect(found != nil, "\(page): \(line)")
            place = found.map { $0 + 1 } ?? place
        }
    }

    private static func lines(_ path: String) throws -> [String] {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test("The examples run")
    func examplesRun() async throws {
        let folder = try TemporaryFolder()
        try await ReadmeExample.run(URL(fileURLWithPath: folder.file("readme.sqlite")))
        try await TourExample.run(URL(fileURLWithPath: folder.file("tour.sqlite")))
        try await ProjectionExample.run(URL(fileURLWithPath: folder.file("projections.sqlite")))
        try await LiveExample.run(URL(fileURLWithPath: folder.file("live.sqlite")))
        // On a store without such a table the declared changes have nothing to do.
        _ = try StorageKit.inMemory { TourExample.declare(&$0) }
    }
}
