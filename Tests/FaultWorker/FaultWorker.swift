import CSQLite
import FaultSupport
import Foundation
import StorageKit

/// The fault laboratory, a process of its own, because it takes the place of SQLite's VFS and allocator.
///
/// `fault-worker power SEED STEPS IMAGES [normal|lying]`: records the life of a store and opens images of it after losses of
/// power; with `normal` durability, or on a disk that lies about bringing something to it.
///
/// `fault-worker disk|memory SEED LIMIT SKIPPED OPERATION`: lets calls of the disk, or allocations of SQLite, fail while the
/// operation runs, as many as the limit says and passing over the first ones; each is announced by a line `at …`.
///
/// `fault-worker memory-out …`: likewise, and all later allocations fail too. The process may die of it; `case …` names the
/// folder that it leaves then.
///
/// `fault-worker sorting write|read`: rebuilds a table whose rows are sorted in a temporary file, one call of which fails.
///
/// `fault-worker live SEED FOLDER PREFIX`: lives with a store until it is killed, and reports its ledger line by line.
/// `fault-worker check FOLDER`: holds the store in a folder to the ledger in the file beside it.
/// `fault-worker operations`: names the operations that `disk` and `memory` know, a line each.
///
/// The others print lines `finding …` and `count NAME NUMBER`, and ends with 0 whatever it found: those who call it judge.
@main
struct FaultWorker {
    static func main() async throws {
        // A reader that has left is an error of the write, as for the tool.
        signal(SIGPIPE, SIG_IGN)
        // Short runs, so that some dozens of rows are sealed, by the tool's commands too.
        setenv("STORAGEKIT_SEGMENT_LENGTH", "64", 0)
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            // Before the first use of SQLite.
            if ["memory", "memory-out"].contains(arguments.first), fault_install_allocator() != SQLITE_OK {
                throw Misuse("the failing allocator can't be installed")
            }
            // As every process that opens a store does it, which would come too late behind the VFS.
            storage_configure_process()
            switch arguments.first {
            case "power": try await losePower(arguments)
            case "disk": try await sweep(arguments, Fault.kindsOfTheDisk)
            case "memory", "memory-out": try await sweep(arguments, Fault.kindsOfMemory)
            case "sorting": try await sort(arguments)
            case "live": try await live(arguments)
            case "check": try await check(arguments)
            case "operations": for operation in Operation.all { say(operation.name) }
            default: throw Misuse("usage: fault-worker power|disk|memory …")
            }
        } catch {
            say("finding the laboratory itself failed: \(error)")
            exit(2)
        }
    }

    private static func sweep(_ arguments: [String], _ kinds: [(name: String, kind: Int)]) async throws {
        guard arguments.count == 5, let seed = UInt64(arguments[1]), let limit = Int(arguments[2]),
            let skipped = Int(arguments[3]), let operation = Operation.all.first(where: { $0.name == arguments[4] })
        else { throw Misuse("usage: fault-worker disk|memory SEED LIMIT SKIPPED OPERATION") }
        guard fault_install_disk() == SQLITE_OK else { throw Misuse("the failing VFS can't be installed") }
        // What commands print is for nobody here.
        let nowhere = open("/dev/null", O_WRONLY)
        _ = answers
        dup2(nowhere, 1)
        if ProcessInfo.processInfo.environment["STORAGEKIT_FAULT_ERRORS"] == nil { dup2(nowhere, 2) }
        let lastings = ["disk": [false, true], "memory": [false], "memory-out": [true]][arguments[0]] ?? []
        let sweep = Sweep(
            operation: operation, kinds: kinds, lastings: lastings, seed: seed, limit: limit, skipped: skipped)
        try await sweep.run().print()
    }

    private static func sort(_ arguments: [String]) async throws {
        guard arguments.count == 2, let kind = ["write": FAULT_WRITE, "read": FAULT_READ][arguments[1]] else {
            throw Misuse("usage: fault-worker sorting write|read")
        }
        guard fault_install_disk() == SQLITE_OK else { throw Misuse("the failing VFS can't be installed") }
        try await SortedRebuild(kind: kind).run().print()
    }

    private static func live(_ arguments: [String]) async throws {
        guard arguments.count == 4, let seed = UInt64(arguments[1]) else {
            throw Misuse("usage: fault-worker live SEED FOLDER PREFIX")
        }
        say("begin")
        let life = try Life(
            in: arguments[2], seed: seed, durability: .full, ledger: Ledger { say($0) }, prefix: arguments[3])
        try await life.live(.max)
    }

    private static func check(_ arguments: [String]) async throws {
        guard arguments.count == 2 else { throw Misuse("usage: fault-worker check FOLDER") }
        let lines = try String(contentsOfFile: arguments[1] + "/ledger", encoding: .utf8).split(separator: "\n")
        let expectation = Ledger(lines: lines.map(String.init)).expectation()
        var tally = Tally()
        tally.count("acknowledged", expectation.acknowledged)
        for finding in await StoreCheck(path: arguments[1] + "/store.sqlite", expectation: expectation).run() {
            tally.add(finding, arguments[1])
        }
        tally.print()
    }

    /// Where lines go: what was standard output when the first was printed.
    private static let answers = dup(1)

    private static func losePower(_ arguments: [String]) async throws {
        guard arguments.count >= 4, let seed = UInt64(arguments[1]), let steps = Int(arguments[2]),
            let images = Int(arguments[3])
        else { throw Misuse("usage: fault-worker power SEED STEPS IMAGES [normal|lying]") }
        let disk = arguments.count > 4 ? arguments[4] : "full"
        let run = PowerLossRun(
            seed: seed, steps: steps, images: images, durability: disk == "normal" ? .normal : .full,
            ignoresSyncs: disk == "lying")
        try await run.run().print()
    }

    /// Past all buffers, so that the line is out before the process dies.
    static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(answers, $0.baseAddress, $0.count) }
    }
}
