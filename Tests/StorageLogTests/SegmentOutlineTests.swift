import CSQLite
import SchemaTestSupport
import StorageCore
import TestSupport
import Testing

@testable import StorageLog

/// What is read of a row of the log without its values is what the whole row says.
@Suite struct SegmentOutlineTests {
    @Test("An outline equals its events", arguments: TestSettings.seeds(2, from: 9_700))
    func outlineEqualsEvents(seed: UInt64) async throws {
        let engine = try await NetDifferenceTests.history(seed).0
        try await engine.withWriter { writer, _ in
            let reader = LogReader(writer.database)
            try reader.forEachBatch(in: 1...reader.head().position) { batch in
                let outline = try #require(try reader.outline(containing: batch.header.last))
                #expect(outline.header == batch.header)
                batch.withView { view in
                    for index in 0..<view.count {
                        let (shape, reported) = (view.shape(of: index), outline.shape(ofEvent: index))
                        let columns = UnsafeBufferPointer(start: shape.columns, count: Int(shape.column_count))
                        let operation = batch.event(at: index, catalog: writer.catalog).operation
                        #expect(reported.entity == shape.entity, "seed \(seed)")
                        #expect(reported.columns == Array(columns), "seed \(seed)")
                        #expect(reported.operation == operation, "seed \(seed)")
                        #expect(outline.previous(ofEvent: index) == view.events[index].previous, "seed \(seed)")
                        #expect(outline.commit(ofEvent: index) == batch.commit(ofEvent: index), "seed \(seed)")
                    }
                }
                return true
            }
        }
    }

    @Test("The least key of any range is found", arguments: TestSettings.seeds(4, from: 9_750))
    func leastKeyOfRange(seed: UInt64) async throws {
        let engine = try await NetDifferenceTests.history(seed).0
        try await engine.withWriter { writer, _ in
            var random = SplitMix64(seed: seed)
            let reader = LogReader(writer.database)
            let head = try reader.head().position
            var keys: [UInt32: [(position: Int64, key: ExactValue)]] = [:]
            try reader.forEachBatch(in: 1...head) { batch in
                batch.withView { view in
                    for index in 0..<view.count {
                        let key = ExactValue(view.key(of: index)[0], bytes: view.bytes)
                        keys[view.shape(of: index).entity, default: []].append((batch.header.first + Int64(index), key))
                    }
                }
                return true
            }
            for (entity, reported) in keys {
                let isPlain = reported.allSatisfy { Self.isPlain($0.key) }
                let expected = reported.map(\.key).min(by: ExactValue.isBefore)
                #expect(try reader.leastKey(of: entity, in: 1...head) == (isPlain ? expected : nil), "seed \(seed)")
                for _ in 0..<10 {
                    let lower = random.below(Int(head)) + 1
                    let part = Int64(lower)...Int64(lower + random.below(Int(head) - lower + 1))
                    guard isPlain else { continue }
                    let expected = reported.filter { part.contains($0.position) }.map(\.key).min(
                        by: ExactValue.isBefore)
                    #expect(try reader.leastKey(of: entity, in: part) == expected, "seed \(seed), @\(part)")
                }
            }
        }
    }

    private static func isPlain(_ key: ExactValue) -> Bool {
        switch key {
        case .null, .real: false
        default: true
        }
    }
}
