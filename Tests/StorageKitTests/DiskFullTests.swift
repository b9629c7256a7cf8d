import Foundation
import StorageKit
import StorageTesting
import Testing

/// After an error of the disk the store says that it is out of use, and opening it again brings back what was committed.
struct DiskFullTests {
    @Test func aFullDiskFailsTheStoreUntilItIsOpenedAgain() async throws {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self) }
        try await store.storage.save(Note(id: 1, text: "before"))
        // SQLite's own limit of pages is as good as a full disk, and leaves the machine alone.
        try await store.storage.engine.withWriter { writer, db in
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(pages + 20)")
            // A user's setting would be put back.
            try writer.learnSettings()
        }
        let full = await #expect(throws: StorageError.self) {
            for number in 2...1_000 { try await store.storage.save(Note(id: number, text: noise(4_000))) }
        }
        #expect(full?.code == .inputOutput)
        let failed = await #expect(throws: StorageError.self) {
            try await store.storage.save(Note(id: 5_000, text: ""))
        }
        #expect(failed?.code == .failed)
        let unread = await #expect(throws: StorageError.self) { try await store.storage.count(Note.self) }
        #expect(unread?.code == .failed)
        try await store.reopen()
        #expect(try await store.storage.get(Note.self, id: 1)?.text == "before")
        let report = try await store.storage.verify()
        #expect(report.isSound, "\(report.findings)")
        try await store.storage.save(Note(id: 5_000, text: "after"))
    }

    /// Text that doesn't compress.
    private func noise(_ count: Int) -> String {
        String((0..<count).map { _ in Character(UnicodeScalar(UInt8.random(in: 33...126))) })
    }
}
