import Foundation
import StorageKit
import TestSupport

/// Dials whose levels were texts, and were converted to numbers.
enum Dials {
    enum Earlier {
        @StorageEntity(table: "dials") struct Dial: Hashable {
            var id: Int
            var level: String
        }
    }
    enum Later {
        @StorageEntity(table: "dials") struct Dial: Hashable {
            var id: Int
            var level: Int
        }
    }

    /// Opens a store whose dials 1 and 2 were saved before the conversion, with the levels 4 and 7.
    ///
    /// - Returns: Also the position before the conversion.
    static func converted(in folder: TemporaryFolder) async throws -> (storage: Storage, before: Int64) {
        let url = URL(fileURLWithPath: folder.path("dials.sqlite"))
        let earlier = try StorageKit.start(at: url) { $0.autoSchema(Earlier.DialRecord.self) }.facade
        try await earlier.save([Earlier.Dial(id: 1, level: "4"), Earlier.Dial(id: 2, level: "7")])
        let before = earlier.head
        try await earlier.close()
        let storage = try StorageKit.start(at: url) {
            $0.convertColumn("level", of: "dials", to: Int.self) { old in
                guard case .text(let text) = old else { return 0 }
                return .integer(Int64(text) ?? -1)
            }
            $0.autoSchema(Later.DialRecord.self)
        }.facade
        return (storage, before)
    }
}
