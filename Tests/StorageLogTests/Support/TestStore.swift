import Foundation
import GRDB
import SchemaTestSupport
import StorageCore
import Synchronization

@testable import StorageLog

/// Makes stores for tests.
enum TestStore {
    static func configuration(segmentLength: Int? = nil, clock: (any StorageClock)? = nil) -> StorageConfig {
        var configuration = StorageConfig()
        if let length = segmentLength ?? TestSettings.segmentLength { configuration.segmentLength = length }
        if let clock { configuration.clock = clock }
        return configuration
    }

    static func inMemory(segmentLength: Int? = nil, clock: (any StorageClock)? = nil) throws -> StorageEngine {
        try .openInMemory(configuration: configuration(segmentLength: segmentLength, clock: clock))
    }
}

extension DatabaseQueue {
    /// The connection of another program to a store that may be open: it waits while the store seals or checkpoints.
    static func foreign(path: String) throws -> DatabaseQueue {
        var configuration = GRDB.Configuration()
        configuration.busyMode = .timeout(60)
        return try DatabaseQueue(path: path, configuration: configuration)
    }
}

/// A clock that is set by hand.
final class ManualClock: StorageClock {
    private let time = Mutex<Int64>(0)

    init(_ microseconds: Int64 = 1_000_000) { self.microseconds = microseconds }

    var microseconds: Int64 {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }
    var now: Date { Date(microseconds: microseconds) }
}

extension StorageEngine {
    /// One commit that runs SQL.
    @discardableResult
    func commit(_ sql: String, _ metadata: CommitMetadata = CommitMetadata()) async throws -> CommitReceipt {
        try await commit(metadata) { _, db in try db.execute(sql: sql) }
    }

    /// One commit that makes an entity's table by SQL.
    @discardableResult
    func adopt(_ name: String, _ sql: String) async throws -> CommitReceipt {
        try await commit(CommitMetadata()) { writer, db in try writer.adopt(db, name, sql) }
    }

    /// The first column of the first row.
    func integer(_ sql: String) async throws -> Int64? {
        try await withWriter { _, db in try Int64.fetchOne(db, sql: sql) }
    }
}

/// The code of the error that `body` throws; nil where it throws none or another kind.
func code<Result>(_ body: () async throws -> Result) async -> StorageError.Code? {
    do {
        _ = try await body()
        return nil
    } catch {
        return (error as? StorageError)?.code
    }
}
