import Dispatch
import Foundation
import StorageKit

/// A view in another process than the one that commits.
enum LiveProcesses {
    static let lateMetric = "commit to shown µs, p99"
    static let lostMetric = "lost wakes"
    static let fullName = ContenderName.storageKit + ", durability full"

    private struct Pair {
        let store: StorageKitLiveStore
        let process: Process
        let output: FileHandle
    }

    static func contenders(commits: Int) -> [Contender] {
        [
            contender(fullName, .full, commits: commits),
            contender(ContenderName.storageKit, .normal, commits: commits),
        ]
    }

    private static func contender(
        _ name: String, _ durability: StorageConfig.Durability, commits: Int
    ) -> Contender {
        Contender(
            name,
            prepare: { workspace in
                let workload = LiveWorkload(rows: 1_000) { _ in LiveCommit() }
                let store = try await StorageKitLiveStore(workload, durability: durability, in: workspace)
                return try start(store, following: workspace.path("storage.sqlite"))
            },
            run: { pair in try await run(pair, commits: commits) },
            cleanup: { pair in
                pair.process.terminate()
                pair.process.waitUntilExit()
                try await pair.store.close()
            })
    }

    private static func start(_ store: StorageKitLiveStore, following path: String) throws -> Pair {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["follow", path]
        process.standardOutput = pipe
        try process.run()
        let pair = Pair(store: store, process: process, output: pipe.fileHandleForReading)
        // The first value.
        _ = try line(pair.output)
        return pair
    }

    private static func run(_ pair: Pair, commits: Int) async throws -> [Metric] {
        var latencies: [Duration] = []
        var lost = 0
        for number in 0..<commits {
            let person = LivePeople.person(0, after: number)
            try await pair.store.write(LiveCommit(saved: [person]))
            let committed = DispatchTime.now().uptimeNanoseconds
            var (age, shown) = try line(pair.output)
            while age != person.age { (age, shown) = try line(pair.output) }
            let latency = Duration.nanoseconds(Int64(shown) - Int64(committed))
            latencies.append(max(latency, .zero))
            if latency > .milliseconds(500) { lost += 1 }
            try await Task.sleep(for: .milliseconds(number % 4))
        }
        return [
            Metric(name: "commit to shown µs, p50", value: latencies.microseconds(percentile: 50)),
            Metric(name: lateMetric, value: latencies.microseconds(percentile: 99)),
            Metric(name: "most", value: latencies.microseconds(percentile: 100)),
            Metric(name: lostMetric, value: Double(lost)),
        ]
    }

    /// What the other process says next: what its view shows, and since when.
    private static func line(_ output: FileHandle) throws -> (age: Int64, nanoseconds: UInt64) {
        var bytes: [UInt8] = []
        while true {
            guard let byte = try output.read(upToCount: 1)?.first else {
                throw BenchmarkError("The process that follows the store has ended.")
            }
            if byte == UInt8(ascii: "\n") { break }
            bytes.append(byte)
        }
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        guard parts.count == 2, let age = Int64(parts[0]), let time = UInt64(parts[1]) else {
            throw BenchmarkError("The process that follows the store has said something else.")
        }
        return (age, time)
    }

    /// Follows a store that another process writes to, and says what one of its people is.
    @MainActor static func follow(_ path: String) async throws {
        let configuration = StorageConfig(isReadOnly: true)
        let store = try StorageKitStore(live: path, configuration: configuration)
        let key = LivePeople.key(0)
        let view = SingleQuerySubscription(
            store.storage.query(StoredPerson.self).where { $0.id == key }, start: .immediate)
        for await person in view.snapshots {
            let time = DispatchTime.now().uptimeNanoseconds
            FileHandle.standardOutput.write(Data("\(person?.age ?? -1) \(time)\n".utf8))
        }
    }
}
