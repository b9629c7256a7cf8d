import Foundation
import StorageCore
import TestSupport
import Testing

@testable import StorageKitTool
@testable import StorageLog

/// `log` finds commits by what they did to rows.
@Suite struct RowFilterTests {
    private func commits(_ words: [String]) async throws -> [Int64] {
        let store = try await SampleStore.shared.value
        let outcome = try ToolProcess.run(["log", "--format", "jsonl"] + words, store: store.path)
        #expect([0, 1].contains(outcome.status), "\(words): \(outcome.errors)")
        struct Line: Decodable { let commit: Int64 }
        return try outcome.output.split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8)).commit
        }
    }

    @Test(
        "Conditions, changes and correlations narrow the log",
        arguments: [
            (["posts", "--where", "views >= 10"], [4]), (["posts", "--where", "title = '42'"], [5, 2]),
            (["--changed", "title"], [3]), (["--changed", "views"], [4]), (["--changed", "views=10"], [4]),
            (["--changed", "views=11"], []), (["--changed", "title:Hello->Hello, world"], [3]),
            (["--changed", "title:Hello -> Hello, world"], [3]), (["--changed", "title:Bye->Hello, world"], []),
            (["--changed", "body=NULL"], [4]), (["--changed", "name", "--changed", "draft"], [5, 3]),
            (["--changed", "score=Infinity"], [3]), (["--changed", "score:1.5->Infinity"], [3]),
            (["--changed", "body:x'00ff'->∅"], [4]), (["--changed", "body:x'00fe'->∅"], []),
            (["--correlation", "req-9"], [3]), (["--correlation", "req-8"], []),
            (["posts", "--where", "title LIKE 'Hello%'", "--changed", "views"], [4]),
            (["posts/b", "--where", "title = '42'"], [5, 2]),
        ] as [([String], [Int64])])
    func narrowing(words: [String], expected: [Int64]) async throws {
        #expect(try await commits(words) == expected, "\(words)")
    }

    @Test("Wrong conditions are answered")
    func wrongConditions() async throws {
        let store = try await SampleStore.shared.value
        for (words, answer) in [
            (["--where", "views > 3"], "storagekit log TABLE"), (["posts", "--where", "vews > 3"], "vews"),
            (["--changed", "titel"], "Did you mean title?"), (["--changed", "=3"], "names no column"),
        ] {
            let outcome = try ToolProcess.run(["log"] + words, store: store.path)
            #expect([2, 3].contains(outcome.status), "\(words): \(outcome.errors)")
            #expect(outcome.errors.contains(answer), "\(words): \(outcome.errors)")
        }
    }
}
