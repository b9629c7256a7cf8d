import Foundation
import StorageCore
import StorageKit
import StorageLog
import StorageTesting

/// The folder of one run, and the store in it.
struct HotPathFolder: Sendable {
    private let folder: URL

    init(_ path: String) { folder = URL(fileURLWithPath: path, isDirectory: true) }

    /// A file of the folder.
    func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

    /// An empty store. Nothing happens in it by itself, and its time is fixed.
    func store(_ declare: (inout Schema) throws -> Void) throws -> Storage {
        var config = StorageConfig(clock: ManualClock())
        config.sealsInBackground = false
        return try StorageKit.start(at: file("store.sqlite"), config: config, declare).facade
    }
}

extension Storage {
    /// Makes commits on the calling thread, in one transaction: what they cost without the queue and its threads.
    func commitNow(_ bodies: Int, _ body: (_ number: Int, WriteTransaction) throws -> Void) throws {
        try engine.withWriterNow { writer, db in
            try writer.group(db) {
                for number in 0..<bodies {
                    _ = try writer.commit(CommitMetadata(actor: "anna")) {
                        try body(number, WriteTransaction(writer: writer, database: db))
                    }
                }
            }
        }
    }
}
