import Foundation
import GRDB
import StorageCore
import TestSupport
import Testing

@testable import StorageLog

/// `tail -f` on a store that another process writes to.
@Suite struct FollowingTests {
    /// No event is lost and none repeated, while commits, sealing and more than one row of the log go on.
    @Test("Every event arrives once")
    func everyEventOnce() async throws {
        let store = try await SampleStore(segmentLength: 16)
        let engine = try SampleStore.open(store.path, segmentLength: 16)
        let first = engine.committed.position
        let process = ToolProcess.prepared(
            ["tail", "-f", "--from", "@\(first)", "--for", "900", "--format", "jsonl"], store: store.path)
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.start()
        let commits = 60
        for number in 0..<commits {
            _ = try await engine.commit(CommitMetadata()) { _, db in
                try db.execute(
                    sql: "INSERT INTO users(name) VALUES (?), (?)", arguments: ["u\(number)", "v\(number)"])
            }
            if number % 20 == 0 { try await engine.seal() }
        }
        let last = engine.committed.position
        let handle = pipe.fileHandleForReading
        let reader = BackgroundThread { () -> [String] in
            var text = Data()
            while !String(decoding: text, as: UTF8.self).contains("\"position\":\(last),") {
                let more = handle.nextBytes()
                if more.isEmpty { break }
                text += more
            }
            return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
        }
        let lines = reader.wait() ?? []
        process.terminate()
        process.waitForEnd()
        try await engine.close()
        let positions = lines.compactMap { line in
            line.split(separator: ",").first { $0.hasPrefix("\"position\":") }.flatMap { Int64($0.dropFirst(11)) }
        }
        #expect(positions == Array(first + 1...last))
        #expect(last == first + Int64(2 * commits))
    }

    @Test("Following ends by itself", arguments: [["tail", "-f"], ["watch", "users"]])
    func followingEnds(command: [String]) async throws {
        let store = try await SampleStore.shared.value
        let started = ContinuousClock.now
        let outcome = try ToolProcess.run(
            command + ["-n", "1", "--for", "0.2", "--format", "jsonl"], store: store.path)
        #expect(outcome.status == 0)
        // What is there is printed before the time begins to count; a page comes when it comes.
        #expect(command == ["watch", "users"] || outcome.output.split(separator: "\n").count == 1)
        #expect(ContinuousClock.now - started >= .milliseconds(200))
    }

    /// The file that is open gets no more commits once another one has its name.
    @Test("A store that is replaced isn't followed any more", arguments: [["tail", "-f"], ["watch", "users"]])
    func replacedStore(command: [String]) async throws {
        let store = try await SampleStore()
        let process = ToolProcess.prepared(
            command + ["-n", "1", "--for", "900", "--format", "jsonl"], store: store.path)
        let (output, errors) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (output, errors)
        try process.start()
        #expect(!output.fileHandleForReading.nextBytes().isEmpty)
        let other = store.folder.path("other.sqlite")
        try FileManager.default.copyItem(atPath: store.path, toPath: other)
        #expect(rename(other, store.path) == 0)
        let text = String(decoding: errors.fileHandleForReading.allBytes(), as: UTF8.self)
        process.waitForEnd()
        #expect(process.terminationStatus == 4, "\(text)")
        #expect(text.contains("replaced"), "\(text)")
    }
}
