import Foundation
import StorageKit
import StorageLog

/// Ways out of the log.
extension HotPath {
    /// Two rows of the log at a time are decoded on the calling thread.
    private static let windows: Int64 = 2

    static let replay = HotPath("replay", operations: 10 * 1_024, "events of sealed windows decoded, on one thread") {
        folder, count in
        let storage = try await versions(in: folder, count: count)
        @Sendable func decode() throws -> Int {
            try storage.engine.readNow { db in
                let reader = LogReader(try db.connection)
                var sum = 0
                let length = Int64(Limits.segmentEvents) * windows
                for first in stride(from: Int64(1), to: Int64(count), by: Int64.Stride(length)) {
                    try reader.forEachBatch(in: first...first + length - 1) { batch in
                        batch.withView { sum += $0.count }
                        return true
                    }
                }
                return sum
            }
        }
        guard try decode() == count, try Callgrind.count(decode) == count else {
            throw HotPathError("Other events were decoded.")
        }
    }

    static let rowHistory = HotPath("row-history", operations: 50, "histories of rows with 20 versions") {
        folder, count in
        let storage = try await versions(in: folder, count: 10 * 1_024)
        func read() async throws -> Int {
            var versions = 0
            for id in 0..<count { versions += try await storage.history(HotPathRow.self, id: id * 7).count }
            return versions
        }
        guard try await read() == count * 20, try await Callgrind.count(read) == count * 20 else {
            throw HotPathError("Other versions were read.")
        }
    }

    static let asOf = HotPath(
        "as-of", operations: 5 * 1_024, "events folded to make a table as of the middle of its history"
    ) {
        folder, count in
        let storage = try await versions(in: folder, count: 2 * count)
        func adults(at position: Int) async throws -> Int {
            let past = try await storage.asOf(.position(Int64(position)))
            return try await past.query(HotPathRow.self).where { $0.age < 45 }.count()
        }
        _ = try await adults(at: count + 512)
        _ = try await Callgrind.count { try await adults(at: count) }
    }

    /// 512 rows whose versions lie behind each other, sealed.
    private static func versions(in folder: HotPathFolder, count: Int) async throws -> Storage {
        let storage = try folder.store { $0.autoSchema(HotPathRowRecord.self) }
        for version in 0..<count / 512 {
            try storage.commitNow(8) { number, tx in
                try tx.save((number * 64..<number * 64 + 64).map { HotPathRow($0, version: version) })
            }
        }
        try await storage.seal()
        return storage
    }
}
