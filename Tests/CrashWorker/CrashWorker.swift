import Foundation
import ServiceLifecycle
import StorageEntities
import StorageKit
import StorageLifecycle
import StorageMaintenance
import StorageProjections
import Synchronization
import UnixSignals

/// A row that says which write it belongs to.
@StorageEntity(table: "marks")
struct Mark {
    var id: String
    var batch: String
    var number: Int
}

/// Writes to a store until it is killed, and prints the name of each write that has returned.
///
/// `crash-worker STORE MODE PREFIX`: MODE is `single`, `batch`, `group`, `sealing`, `fast`, `projecting`, `remaking`,
/// `refolding`, `refreshing` and `paging` (fetch a query source, at once and in pages), `rebuilding`, `swapping`, `restoring` (PREFIX is the position to go back to), `serving` (in a service group
/// that SIGTERM ends), `asked` (as many commits as the next byte of standard input says) or `hold`. Others don't write:
/// `listening` prints the commits of another process, `asking` asks such a one for PREFIX commits and ends when it has seen
/// them, `checkpoint` and `checkpoint-unasked` do what only a writer may, for PREFIX seconds. `sending` commits while a side
/// effect waits, in a projection of the mode PREFIX.
@main
struct CrashWorker {
    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments[2].hasPrefix("checkpoint") {
            let asks = arguments[2] == "checkpoint"
            return try Checkpointer(store: arguments[1], asks: asks, seconds: Double(arguments[3]) ?? 1).run()
        }
        var configuration = StorageConfig()
        configuration.segmentLength = 64
        if arguments[2] == "listening" { return try await listen(arguments[1]) }
        if arguments[2] == "asking" { return try await ask(arguments[1], for: Int(arguments[3]) ?? 1) }
        if arguments[2] == "sending" {
            return try await SlowSender.run(store: arguments[1], mode: ProjectionMode(rawValue: arguments[3]) ?? .async)
        }
        if arguments[2] == "fast" {
            configuration.durability = .normal
            try saveWithoutPause(arguments[1], configuration)
        }
        if ["refreshing", "paging"].contains(arguments[2]) {
            return try await Refresher(store: arguments[1], isPaged: arguments[2] == "paging").run()
        }
        let context = try StorageKit.start(at: URL(fileURLWithPath: arguments[1]), config: configuration) {
            $0.autoSchema(MarkRecord.self)
            if ["projecting", "remaking", "serving"].contains(arguments[2]) {
                $0.addProjection(MarkCounts(), mode: .async, batchSize: 7)
            }
            if arguments[2] == "refolding" { $0.addProjection(MarkCounts(), mode: .async) }
        }
        let worker = CrashWorker(storage: context.facade, prefix: arguments[3])
        say("ready")
        switch arguments[2] {
        case "single": try await worker.saveOneByOne()
        case "batch": try await worker.saveBatches()
        case "group": try await worker.saveConcurrently()
        case "sealing": try await worker.saveAndSeal()
        case "projecting": try await worker.saveAndProject()
        case "remaking": try await worker.remakeProjection()
        case "refolding": try await worker.refoldProjection()
        case "swapping": try await worker.rebuildAtOnce()
        case "rebuilding": while true { try await worker.rebuild() }
        case "serving": try await worker.serve()
        case "asked": try await worker.saveWhenAsked()
        case "restoring": while true { try await worker.restore() }
        default: try await Task.sleep(for: .seconds(600))
        }
    }

    /// As many transactions a second as the writer can do.
    private static func saveWithoutPause(_ store: String, _ configuration: StorageConfig) throws -> Never {
        _ = try StorageKit.start(at: URL(fileURLWithPath: store)) { $0.autoSchema(MarkRecord.self) }
        let engine = try StorageEngine.open(path: store, configuration: configuration)
        say("ready")
        var number = 0
        while true {
            number += 1
            try engine.withWriterNow { writer, db in
                try writer.group(db) {
                    _ = try writer.commit(CommitMetadata()) {
                        try db.execute(
                            sql: """
                                INSERT INTO marks(id, batch, number, updatedAt)
                                VALUES (?, 'w', ?, '2026-01-15 10:00:00.000')
                                """,
                            arguments: ["\(number)", number])
                    }
                }
            }
            say("1 \(number)")
        }
    }

    let storage: Storage
    let prefix: String

    /// A store that another process writes to. It has no heartbeat that would help.
    private static func reader(_ store: String) throws -> Storage {
        var configuration = StorageConfig(isReadOnly: true)
        configuration.heartbeat = .seconds(3_600)
        return try StorageKit.start(at: URL(fileURLWithPath: store), config: configuration).facade
    }

    /// Prints each commit of another process with the time at which it is seen.
    private static func listen(_ store: String) async throws {
        let storage = try reader(store)
        let head = StoragePoint.position(storage.head)
        say("ready")
        for try await change in storage.changes(since: head) { say("\(change.commit.number) \(nanoseconds)") }
    }

    /// Asks the process that reads its standard output for commits, and for more only when it has seen all of them, so that they
    /// come to a reader that sleeps or is going to. Most are asked for alone, some thirty at once. Ends with 1 where one is missing.
    private static func ask(_ store: String, for wanted: Int) async throws {
        let storage = try reader(store)
        var changes = storage.changes(since: .position(storage.head)).makeAsyncIterator()
        var (round, seen, last) = (0, 0, Int64?.none)
        while seen < wanted {
            round += 1
            var count = UInt8(round % 10 == 0 ? min(30, wanted - seen) : 1)
            write(1, &count, 1)
            for _ in 0..<count {
                guard let number = try await changes.next()?.commit.number,
                    last == nil || number == last.map({ $0 + 1 })
                else { exit(1) }
                last = number
                seen += 1
            }
        }
        try await storage.close()
    }

    /// A clock that processes share.
    private static var nanoseconds: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// Each with the time at which it had returned.
    private func saveWhenAsked() async throws {
        var (number, count) = (0, UInt8(0))
        while read(0, &count, 1) == 1 {
            for _ in 0..<count {
                number += 1
                try await storage.save(Mark(id: "\(prefix)-\(number)", batch: prefix, number: number))
                say("1 \(Self.nanoseconds)")
            }
        }
    }

    private func saveOneByOne() async throws {
        for number in 0... {
            let id = "\(prefix)-\(number)"
            try await storage.save(Mark(id: id, batch: id, number: number))
            say("1 \(id)")
        }
    }

    /// Ten rows a commit, then a change and a delete, so that updates and tombstones are part of it.
    private func saveBatches() async throws {
        for number in 0... {
            let batch = "\(prefix)-\(number)"
            let marks = (0..<10).map { Mark(id: "\(batch)-\($0)", batch: batch, number: $0) }
            try await storage.save(marks)
            say("10 \(batch)")
            try await storage.write { tx in
                try tx.save(Mark(id: "changing", batch: "changing", number: number))
                try tx.delete(Mark.self, id: "deleted")
            }
            try await storage.save(Mark(id: "deleted", batch: "deleted", number: number))
        }
    }

    private func saveConcurrently() async throws {
        for number in 0... {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for part in 0..<20 {
                    let id = "\(prefix)-\(number)-\(part)"
                    group.addTask {
                        try await storage.save(Mark(id: id, batch: id, number: part))
                        say("1 \(id)")
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    private func saveAndSeal() async throws {
        for number in 0... {
            let batch = "\(prefix)-\(number)"
            try await storage.save((0..<50).map { Mark(id: "\(batch)-\($0)", batch: batch, number: $0) })
            say("50 \(batch)")
            try await storage.seal()
        }
    }

    /// Now and then the projection begins anew, so that it is always catching up when the process dies.
    private func saveAndProject() async throws {
        for number in 0... {
            if number % 10 == 3 { try await storage.projections.reset("mark_counts") }
            let batch = "\(prefix)-\(number)"
            try await storage.save((0..<10).map { Mark(id: "\(batch)-\($0)", batch: batch, number: $0) })
            say("10 \(batch)")
        }
    }

    /// Saves as a service beside the store's own, until the group shuts down.
    private func serve() async throws {
        let writer = ClosureService { [self] in
            var number = 0
            while !Task.isShuttingDownGracefully {
                let batch = "\(prefix)-\(number)"
                try await storage.save((0..<10).map { Mark(id: "\(batch)-\($0)", batch: batch, number: $0) })
                say("10 \(batch)")
                number += 1
            }
        }
        let group = ServiceGroup(
            services: [StorageService(storage), writer], gracefulShutdownSignals: [.sigterm])
        try await group.run()
        say("0 ended")
    }

    private func rebuild() async throws {
        // In steps as small as can be, with rests between them, so that it is killed there.
        var pace = Rebuild.Pace()
        (pace.limit, pace.seeksNeeded) = (1, true)
        _ = try await Rebuild(storage.engine, pace: pace) { _ in
            Self.say("step")
            Thread.sleep(forTimeInterval: 0.05)
        }.run()
        say("rebuilt")
    }

    /// Tells when the new tables are about to take the places of the old, and when they have.
    private func rebuildAtOnce() async throws {
        let rests = prefix == "rest"
        _ = try await Rebuild(storage.engine) {
            guard $0.phase == .swapping else { return }
            Self.say("swapping")
            if rests { Thread.sleep(forTimeInterval: 600) }
        }.run()
        say("rebuilt")
        try await Task.sleep(for: .seconds(600))
    }

    /// Makes the projection again and again, while commits come.
    private func remakeProjection() async throws {
        for round in 0..<Int.max {
            try await storage.save(
                (0..<10).map { Mark(id: "\(prefix)-\(round)-\($0)", batch: "\(prefix)-\(round)", number: $0) })
            if round % 3 == 0 { try await storage.projections.rebuild("mark_counts") }
            say("10 \(round)")
        }
    }

    /// Rebuilds the projection once, and prints how far it is.
    private func refoldProjection() async throws {
        try await storage.waitForProjections(through: CommitReceipt(commit: nil, first: 0, last: storage.head, time: 0))
        let rests = prefix == "rest"
        let start = Mutex<Int64?>(nil)
        let report = try await storage.projections.rebuild("mark_counts") { progress in
            let isFurther = start.withLock { start in
                start = start ?? progress.completed
                return progress.completed > start ?? 0
            }
            Self.say("\(progress.completed) at")
            if rests, isFurther { Thread.sleep(forTimeInterval: 600) }
        }
        say("\(report.resumedAt) done")
    }

    /// There and back again.
    private func restore() async throws {
        let head = storage.head
        try await storage.restore(Mark.self, to: .position(Int64(prefix) ?? 0))
        say("restored")
        try await storage.restore(Mark.self, to: .position(head))
    }

    /// Past all buffers, so that the line is out before the process dies.
    static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    }

    private func say(_ line: String) { Self.say(line) }
}
