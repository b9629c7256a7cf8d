import EntityTestSupport
import Foundation
import StorageKit
import StorageMaintenance
import StorageTesting
import TestSupport
import Testing

/// After an error of the disk the store says that it is out of use, and opening it again brings back what was committed.
struct DiskFullTests {
    @Test("A full disk makes the store unusable until it is reopened")
    func fullDiskFailsStore() async throws {
        var configuration = StorageConfig()
        // Sealing could meet the full disk before a save does, which would find the store unusable then.
        configuration.sealsInBackground = false
        let store = try TemporaryStore(config: configuration) { $0.autoSchema(NoteRecord.self) }
        try await store.storage.save(Note(id: 1, text: "before"))
        // SQLite's own limit of pages is as good as a full disk, and leaves the machine alone.
        try await store.storage.engine.withWriter { writer, db in
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(pages + 20)")
            // A user's setting would be put back.
            try writer.learnSettings()
        }
        let full = await #expect(throws: StorageError.self) {
            for number in 2...1_000 { try await store.storage.save(Note(id: number, text: noise(4_000, number))) }
        }
        #expect(full?.code == .ioError)
        let failed = await #expect(throws: StorageError.self) {
            try await store.storage.save(Note(id: 5_000, text: ""))
        }
        #expect(failed?.code == .unusable)
        let unread = await #expect(throws: StorageError.self) { try await store.storage.count(Note.self) }
        #expect(unread?.code == .unusable)
        try await store.reopen()
        #expect(try await store.storage.get(Note.self, id: 1)?.text == "before")
        let report = try await store.storage.verify()
        #expect(report.isSound, "\(report.findings)")
        try await store.storage.save(Note(id: 5_000, text: "after"))
    }

    /// A file system that is really full: of whatever size it is, the store says that there is no room, and everything that
    /// was acknowledged is there once somebody has made room.
    @Test(
        "Everything acknowledged is there once there is room again",
        .enabled(if: SmallDisk.isPossible, "only root can mount a file system, and not in every container"))
    func roomAgainAfterFullDisk() async throws {
        var random = SplitMix64(seed: testSeeds(1)[0])
        for size in (0..<FaultLab.scaled(2)).map({ _ in 500 + random.below(2_501) }) {
            let disk = try SmallDisk(kilobytes: size + 512)
            let filler = disk.path + "/filler"
            try Data(count: 512 << 10).write(to: URL(fileURLWithPath: filler))
            let url = URL(fileURLWithPath: disk.path + "/full.sqlite")
            var saved = 0
            do {
                let storage = try StorageKit.start(at: url) { $0.autoSchema(NoteRecord.self) }.facade
                let error = await #expect(throws: StorageError.self) {
                    for number in 1...10_000 {
                        try await storage.save(Note(id: number, text: noise(4_000, number)))
                        saved = number
                    }
                }
                // Sealing in the background may meet it first, and then the store has failed already.
                #expect(
                    [.ioError, .unusable].contains(error?.code), "\(size) KB: \(String(describing: error))")
                // There may be no room to tidy up either.
                try? await storage.close()
            }
            try FileManager.default.removeItem(atPath: filler)
            let storage = try StorageKit.start(at: url) { $0.autoSchema(NoteRecord.self) }.facade
            let count = try await storage.count(Note.self)
            #expect(count == saved, "\(size) KB: \(saved) rows were acknowledged, \(count) are there")
            #expect(try await storage.verify().findings.map(\.description) == [], "\(size) KB")
            try await storage.save(Note(id: 100_000, text: "after"))
            try await storage.close()
        }
    }

    /// The store itself isn't affected: what was written of the sorted rows is emptied again.
    @Test("A rebuild whose temporary file fails does without it", arguments: ["write", "read"])
    func failingTemporaryFile(call: String) async throws {
        let lab = try await FaultLab.run("sorting", call)
        #expect(lab.status == 0)
        #expect(lab.findings == [])
        #expect(lab.count("faults") == 1)
    }

    /// Text that doesn't compress.
    private func noise(_ count: Int, _ number: Int) -> String {
        var random = SplitMix64(seed: UInt64(number))
        return String((0..<count).map { _ in Character(UnicodeScalar(UInt8(33 + random.below(94)))) })
    }
}
