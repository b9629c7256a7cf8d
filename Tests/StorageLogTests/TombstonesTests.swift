import TestSupport
import Testing

@testable import StorageLog

/// What waits of tombstones, laid over what the file says, is what the commits did, whatever was written or undone in between.
@Suite struct TombstonesTests {
    private typealias Positions = [RowAddress: Int64]

    @Test("Commits that are undone leave no tombstone, also after a write", arguments: TestSettings.seeds(40, from: 1))
    func undoneCommits(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var tombstones = Tombstones()
        var file: Positions = [:]
        var expected: Positions = [:]
        var position: Int64 = 0

        func write() {
            for (row, position) in tombstones.positions { file[row] = position > 0 ? position : nil }
            tombstones.removeWritten()
        }
        for _ in 0..<60 {
            let before = (file: file, expected: expected)
            tombstones.begin()
            for _ in 0..<Int.random(in: 0..<6, using: &random) {
                position += 1
                let row = RowAddress(entity: 1, key: [UInt8.random(in: 0..<8, using: &random)])
                let isDelete = Bool.random(using: &random)
                tombstones.set(row, isDelete ? position : 0)
                expected[row] = isDelete ? position : nil
                if Int.random(in: 0..<8, using: &random) == 0 { write() }
            }
            if Int.random(in: 0..<3, using: &random) == 0 {
                tombstones.undo()
                (file, expected) = before
            }
            var seen = file
            for (row, position) in tombstones.positions { seen[row] = position > 0 ? position : nil }
            #expect(seen == expected, "seed \(seed)")
            if Int.random(in: 0..<10, using: &random) == 0 {
                // The end of a group: nothing is undone behind it.
                write()
                tombstones.removeAll()
            }
        }
    }
}
