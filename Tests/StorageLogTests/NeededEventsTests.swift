import CSQLite
import SchemaTestSupport
import StorageCore
import TestSupport
import Testing

@testable import StorageHistory
@testable import StorageLog

/// A rebuild leaves out those events alone that later ones of the window make up for.
@Suite struct NeededEventsTests {
    private struct Event {
        let position: Int64
        let isUpdate: Bool
        let isDelete: Bool
        /// Those that the table still has.
        let columns: Set<UInt32>
    }

    @Test("Skipped events are made up for", arguments: TestSettings.seeds(6, from: 12_000))
    func skippedEventsAreMadeUpFor(seed: UInt64) async throws {
        let (engine, _) = try await NetDifferenceTests.history(seed)
        try await engine.withWriter { writer, _ in
            let reader = LogReader(writer.database)
            let head = Int(try reader.head().position)
            var random = SplitMix64(seed: seed)
            var leftOut = 0
            for round in 0..<20 {
                let low = round < 3 ? 0 : random.below(head)
                let range = Int64(low + 1)...Int64(low + 1 + random.below(head - low))
                let entities = writer.catalog.live.filter { _ in round < 3 || random.chance(70) }
                let wanted = try Self.wanted(of: entities, in: range, reader)
                let needed = try NeededEvents(of: entities, in: range, reader)
                #expect(range.filter(needed.contains) == wanted.needed, "seed \(seed), \(range)")
                leftOut += wanted.all.count - wanted.needed.count
                for _ in 0..<20 {
                    let from = random.below(head)
                    let some = Int64(from + 1)...Int64(from + 1 + random.below(head - from))
                    #expect(needed.containsAny(of: some) == wanted.needed.contains(where: some.contains))
                }
            }
            #expect(leftOut > 20)
        }
    }

    /// As it is defined, row by row.
    private static func wanted(
        of entities: [CatalogEntity], in range: ClosedRange<Int64>, _ reader: LogReader
    ) throws -> (needed: [Int64], all: [Int64]) {
        var rows: [[Event]] = []
        var rowOfEvent: [Int64: Int] = [:]
        try reader.forEachBatch(in: range) { batch in
            batch.withView { view in
                for index in 0..<view.count {
                    let (position, shape) = (batch.header.first + Int64(index), view.shape(of: index))
                    guard range.contains(position), let entity = entities.first(where: { $0.id == shape.entity })
                    else { continue }
                    let reported = (0..<Int(shape.column_count)).map { shape.columns[$0] }
                    let event = Event(
                        position: position, isUpdate: Int(shape.operation) == STORAGE_UPDATE,
                        isDelete: Int(shape.operation) == STORAGE_DELETE,
                        columns: Set(reported).intersection(entity.live.map(\.id)))
                    let row = rowOfEvent[view.events[index].previous] ?? rows.count
                    if row == rows.count { rows.append([]) }
                    rows[row].append(event)
                    rowOfEvent[position] = row
                }
            }
            return true
        }
        let needed = rows.flatMap { events in
            events.indices.filter { place in
                let later = events[(place + 1)...]
                return !events[place].isUpdate || later.isEmpty
                    || !later.contains(where: \.isDelete)
                        && !events[place].columns.isSubset(of: later.reduce([]) { $0.union($1.columns) })
            }.map { events[$0].position }
        }
        return (needed.sorted(), rowOfEvent.keys.sorted())
    }
}
