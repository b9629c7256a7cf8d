import FaultSupport
import Foundation
import SchemaTestSupport
import StorageKit
import TestSupport

/// Lets one call after another fail while an operation runs. Whoever asked for it is reported that it is done, or that it failed;
/// then the store is opened again on a disk that works, is sound, and holds every write that was acknowledged.
struct Sweep {
    let operation: Operation
    let kinds: [(name: String, kind: Int)]
    /// Whether later calls fail too: no, yes, or both after one another.
    let lastings: [Bool]
    let seed: UInt64
    /// How many faults are tried at most, taken evenly from the kinds.
    let limit: Int
    /// How many of them are skipped, because a process that has died has tried them.
    let skipped: Int

    func run() async throws -> Tally {
        let usual = try await UsualStore()
        var tally = Tally()
        let faults = try await faults(usual)
        tally.count("possible", faults.map(\.count).reduce(0, +))
        for (number, fault) in chosen(faults).enumerated().dropFirst(skipped) {
            FaultWorker.say("at \(number) \(operation.name): \(fault)")
            // Whatever hangs ends the process, later than a busy machine needs; the line above says where.
            alarm(300)
            tally.add(try await attempt(fault, number, usual))
        }
        alarm(0)
        return tally
    }

    /// Counts the calls of all kinds in one run in which nothing fails.
    private func faults(_ usual: UsualStore) async throws -> [[Fault]] {
        let test = try await prepared(usual)
        fault_arm(kinds.reduce(0) { $0 | UInt32($1.kind) }, UInt64.max, 0, 0)
        try await operation.run(test)
        // It is closed already where the operation is about that.
        try? await test.storage?.close()
        let all = kinds.map { Fault.all($0, calls: fault_call_count(UInt32($0.kind)), lastings: lastings) }
        _ = fault_disarm()
        return all
    }

    /// In the order of the seed, one of each kind after the other.
    private func chosen(_ faults: [[Fault]]) -> [Fault] {
        var random = SplitMix64(seed: seed)
        let shuffled = faults.map { $0.shuffled(using: &random) }
        let longest = shuffled.map(\.count).max() ?? 0
        let all = (0..<longest).flatMap { place in shuffled.compactMap { place < $0.count ? $0[place] : nil } }
        return Array(all.prefix(limit))
    }

    private var isOfMemory: Bool { kinds.contains { $0.kind == FAULT_ALLOCATION } }

    private func prepared(_ usual: UsualStore) async throws -> FaultCase {
        let test = try usual.makeCase(opens: operation.opens, seals: operation.seals)
        try await operation.prepare(test)
        return test
    }

    private func attempt(_ fault: Fault, _ number: Int, _ usual: UsualStore) async throws -> Tally {
        var tally = Tally()
        let test = try await prepared(usual)
        var findings: [Finding] = []
        var isDone = false
        if isOfMemory {
            FaultWorker.say("case \(test.folder.url.path)")
        }
        fault.arm()
        do {
            try await operation.run(test)
            isDone = true
            tally.count("done", 1)
        } catch {
            tally.count("refused", 1)
            findings += note(error, &tally)
        }
        // A program ends on the same disk; that closing fails is nothing new to it.
        try? await test.storage?.close()
        let failures = fault_disarm()
        tally.count("faults", failures > 0 ? 1 : 0)
        if failures == 0 { tally.count("missed", 1) }
        let check = StoreCheck(path: test.path, expectation: test.ledger.expectation())
        findings += await check.run()
        do {
            findings += try await operation.check(test, isDone)
        } catch {
            findings.append(Finding(kind: .unusable, text: "\(error)"))
        }
        if findings.isEmpty, number % 4 == 0 { findings = await check.goOn() }
        for finding in findings { tally.add(finding, "\(operation.name): \(fault), \(isDone ? "done" : "refused")") }
        return tally
    }

    private func note(_ error: any Error, _ tally: inout Tally) -> [Finding] {
        switch error {
        case let error as StorageError:
            tally.count("error-\(error.code)", 1)
            if error.code == .corrupt { return misjudged(error.message) }
        case let error as ToolFailure:
            tally.count("status-\(error.status)", 1)
            if error.status == 5 { return misjudged("the tool ends with 5") }
        default: return [Finding(kind: .untyped, text: "\(type(of: error)): \(error)")]
        }
        return []
    }

    /// The store is sound: only its disk fails, or there is no memory. A file that is being made on such a disk may be damaged indeed,
    /// where SQLite doesn't report what was refused.
    private func misjudged(_ text: String) -> [Finding] {
        guard !operation.makesFile || isOfMemory else { return [] }
        return [Finding(kind: .misjudged, text: "a sound store is said to be damaged: \(text)")]
    }
}
