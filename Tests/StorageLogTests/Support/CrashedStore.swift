import Foundation
import GRDB
import StorageCore
import TestSupport

@testable import StorageLog

/// The files of a store as they are when its process is killed: the last commits are in the write-ahead log only.
struct CrashedStore {
    var main: Data
    var log: [UInt8]
    let head: Int64
    /// How long the write-ahead log was after each commit.
    let lengths: [Int]

    static let frameSize = 24 + 4_096
    static let headerSize = 32

    /// - Parameter commits: How many are in the write-ahead log.
    init(commits: Int, durability: StorageConfig.Durability = .full) async throws {
        let folder = try TemporaryFolder()
        var configuration = TestStore.configuration()
        configuration.durability = durability
        configuration.sealsInBackground = false
        let first = try StorageEngine.open(path: folder.path(), configuration: configuration)
        try await first.adopt("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        try await first.close()
        let engine = try StorageEngine.open(path: folder.path(), configuration: configuration)
        var lengths: [Int] = []
        for number in 0..<commits {
            try await engine.commit(Self.insertion(number))
            lengths.append(try Data(contentsOf: URL(fileURLWithPath: folder.path() + "-wal")).count)
        }
        head = engine.committed.position
        main = try Data(contentsOf: URL(fileURLWithPath: folder.path()))
        log = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path() + "-wal")))
        self.lengths = lengths
        try await engine.close()
    }

    static func insertion(_ number: Int) -> String {
        "INSERT INTO t(v) VALUES ('\(number) \(String(repeating: "x", count: number % 7 * 900))')"
    }

    /// Where a frame begins, counted from 1.
    static func start(of frame: Int) -> Int { headerSize + (frame - 1) * frameSize }

    var frames: Int { (log.count - Self.headerSize) / Self.frameSize }

    /// Puts the files into a folder.
    ///
    /// - Parameter acknowledged: What the bell beside it says; without a bell where it is nil.
    /// - Returns: The path of the store.
    func write(
        to folder: TemporaryFolder, acknowledged: Int64? = nil, durability: StorageConfig.Durability = .full
    ) throws -> String {
        let path = folder.path()
        for suffix in ["-shm", ".bell", ".lock"] { unlink(path + suffix) }
        try main.write(to: URL(fileURLWithPath: path))
        try Data(log).write(to: URL(fileURLWithPath: path + "-wal"))
        if let acknowledged { try Self.acknowledge(acknowledged, durability, beside: path) }
        return path
    }

    static func acknowledge(
        _ position: Int64, _ durability: StorageConfig.Durability = .full, beside path: String
    ) throws {
        let file = Acknowledgement.file(of: path) ?? 0
        let bytes = Acknowledgement(position: position, durability: durability, file: file).bytes
        try Data([0, 0, 0, 0] + bytes).write(to: URL(fileURLWithPath: path + ".bell"))
    }
}
