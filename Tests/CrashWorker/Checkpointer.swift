import GRDB
import StorageCore
import StorageKit
import StorageLog

/// Copies the write-ahead log into the store again and again for some seconds, as a second writer or a backup tool would,
/// and prints how often it did so and how often it was refused.
struct Checkpointer {
    let store: String
    /// Whether it asks for the writer's lock first, as every StorageKit process does.
    let asks: Bool
    let seconds: Double

    func run() throws {
        var configuration = GRDB.Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 0") }
        configuration.busyMode = .timeout(60)
        let connection = try DatabaseQueue(path: store, configuration: configuration)
        let end = ContinuousClock.now + .seconds(seconds)
        var checkpoints = 0
        var refusals = 0
        // Once at least, however late it comes to it.
        repeat {
            do {
                let lock = asks ? try WriterLock(store: store) : nil
                _ = try connection.writeWithoutTransaction { try $0.checkpoint(.passive) }
                lock?.release()
                checkpoints += 1
            } catch let error as StorageError where error.code == .busy {
                refusals += 1
            } catch DatabaseError.SQLITE_BUSY {
                // The writer is copying the log itself at this moment.
            }
        } while ContinuousClock.now < end
        CrashWorker.say("\(checkpoints) checkpoints")
        CrashWorker.say("\(refusals) refusals")
    }
}
