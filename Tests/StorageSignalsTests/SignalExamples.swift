import Logging
import StorageKit
import StorageSignals

/// The code of the guide "Watch a store in production".
enum SignalExamples {
    static func observe(_ storage: Storage) -> [StorageObservation] {
        let slowWrites = storage.observeCommits(longerThan: .milliseconds(100)) { commit in
            print("slow write: \(commit.duration), mostly \(commit.reason.rawValue)", commit.metadata.correlation ?? "")
        }
        let slowReads = storage.observeReads(longerThan: .milliseconds(100)) { read in
            print("slow read: \(read.duration), mostly \(read.reason.rawValue)", read.statement ?? "")
        }
        return [slowWrites, slowReads]
    }

    static func report(_ storage: Storage, _ logger: Logger) async throws {
        let reporter = SignalReporter(storage, logger: logger)
        try await reporter.run()
    }
}
