import CSQLite
import FaultSupport
import Foundation
import SchemaTestSupport
import StorageKit
import TestSupport

/// Records the life of a store and opens what is left of it where the power goes at random moments.
///
/// The images are opened in the same process once the system's VFS is the default again: the recording is over then, and an
/// image is a folder of its own.
struct PowerLossRun {
    let seed: UInt64
    let steps: Int
    let images: Int
    let durability: StorageConfig.Durability
    let ignoresSyncs: Bool

    private struct Image: Sendable {
        let number: Int
        let call: Int
        let loss: PowerLoss
        let files: [String: [UInt8]]
        let expectation: Expectation
    }

    func run() async throws -> Tally {
        let folder = try TemporaryFolder.inMemory()
        let ledger = Ledger()
        let calls = try await record(in: folder, ledger)
        var tally = Tally()
        tally.count("calls", calls.count)
        tally.count("acknowledged", ledger.expectation().acknowledged)
        var random = SplitMix64(seed: ~seed)
        let disk = SimulatedDisk(ignoresSyncs: ignoresSyncs)
        var moments = (0..<images).map { _ in Int.random(in: 0...calls.count, using: &random) }.sorted()[...]
        await withTaskGroup(of: Tally.self) { group in
            var running = 0
            for call in 0...calls.count {
                while moments.first == call {
                    let number = images - moments.count
                    moments.removeFirst()
                    let loss = PowerLoss.allCases[number % PowerLoss.allCases.count]
                    let image = Image(
                        number: number, call: call, loss: loss, files: disk.image(after: loss, &random),
                        expectation: ledger.expectation(at: UInt64(call)))
                    if running >= ProcessInfo.processInfo.activeProcessorCount, let done = await group.next() {
                        tally.add(done)
                        running -= 1
                    }
                    group.addTask { await check(image) }
                    running += 1
                }
                if call < calls.count { disk.apply(calls[call]) }
            }
            for await done in group { tally.add(done) }
        }
        return tally
    }

    private func record(in folder: TemporaryFolder, _ ledger: Ledger) async throws -> [DiskCall] {
        guard fault_install_disk() == SQLITE_OK else { throw Misuse("the recording VFS can't be installed") }
        fault_record_begin()
        let life = try Life(in: folder.url.path, seed: seed, durability: durability, ledger: ledger)
        try await life.live(steps)
        let calls = DiskCall.recorded()
        guard fault_remove_disk() == SQLITE_OK else { throw Misuse("the recording VFS can't be removed") }
        return calls
    }

    private func check(_ image: Image) async -> Tally {
        var tally = Tally()
        tally.count("images", 1)
        do {
            let folder = try TemporaryFolder.inMemory()
            try write(image, to: folder.url.path)
            let store = folder.path("store.sqlite")
            if image.number % 3 == 0, FileManager.default.fileExists(atPath: store) {
                // Whatever was in the memory that processes shared, it means nothing now.
                var random = SplitMix64(seed: seed &+ UInt64(image.number))
                let bytes = (0..<32_768).map { _ in UInt8.random(in: 0...255, using: &random) }
                try Data(bytes).write(to: URL(fileURLWithPath: store + "-shm"))
            }
            try acknowledge(image, store)
            let check = StoreCheck(path: store, expectation: image.expectation)
            var findings = await check.run()
            if findings.isEmpty, image.number % 5 == 0 { findings = await check.goOn() }
            if !findings.isEmpty, let kept = ProcessInfo.processInfo.environment["STORAGEKIT_FAULT_KEEP"] {
                try write(image, to: "\(kept)/seed\(seed)-image\(image.number)")
            }
            for finding in findings {
                tally.add(finding, "seed \(seed), power lost after call \(image.call), \(image.loss)")
            }
        } catch {
            tally.add(Finding(kind: .unusable, text: "the image can't be made: \(error)"), "seed \(seed)")
        }
        return tally
    }

    /// The bell as it may be when everything that was written to it has come to the disk by chance, and the store's own files
    /// haven't. With full durability it may also be gone; a disk that lies makes it say more than is true.
    private func acknowledge(_ image: Image, _ store: String) throws {
        let isThere = !ignoresSyncs && (durability == .normal || image.number % 4 > 0)
        guard isThere, let file = Acknowledgement.file(of: store) else { return }
        let known = Acknowledgement(position: image.expectation.head, durability: durability, file: file)
        try Data([0, 0, 0, 0] + known.bytes).write(to: URL(fileURLWithPath: store + ".bell"))
    }

    private func write(_ image: Image, to folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (path, bytes) in image.files {
            let name = (path as NSString).lastPathComponent
            try Data(bytes).write(to: URL(fileURLWithPath: folder + "/" + name))
        }
    }
}
