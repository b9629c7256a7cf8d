import CSQLite
import SchemaTestSupport
import StorageCore
import TestSupport
import Testing

@testable import StorageLog

/// Where the values of a row come from is what a fold that remembers the last writer of each cell says.
@Suite struct RowImageTests {
    private struct Cells {
        /// Positions of the events that set a column, the row's insert first.
        var setters: [UInt32: [Int64]] = [:]
        var values: [UInt32: Cell] = [:]
        var insert: Int64
    }

    private typealias Address = LogOracle.RowAddress

    @Test("Origins are those of a fold over the last writers", arguments: TestSettings.seeds(3, from: 9_000))
    func originsEqualFold(seed: UInt64) async throws {
        let engine = try await NetDifferenceTests.history(seed).0
        var random = SplitMix64(seed: seed)
        let ignored = [Set<String>(), ["a0"], ["a1", "a2"]][Int(seed % 3)]
        let isIgnored: @Sendable (CommitInfo) -> Bool = { commit in commit.metadata.actor.map(ignored.contains) ?? false
        }
        for _ in 0..<TestSettings.scaled(20) {
            let choice = random.next()
            try await engine.withWriter { writer, _ in
                let reader = LogReader(writer.database)
                let events = try reader.events()
                let end = try reader.lastPosition(ofCommitAt: events[Int(choice % UInt64(events.count))].position)
                let past = events.prefix { $0.position <= end }
                let catalog = try Catalog.load(writer.database, at: end)
                let isLooked = Dictionary(uniqueKeysWithValues: past.map { ($0.position, isIgnored($0.commit)) })
                for (address, cells) in Self.fold(past) {
                    guard let now = writer.catalog.entity(id: address.entity), !now.isDropped, address.entity != 1,
                        let then = catalog.entity(id: address.entity), !address.key.contains(where: Self.isInvalid)
                    else { continue }
                    let key = address.key.map(\.exact.value)
                    let origins = try reader.origins(of: key, in: now, at: end, ignoring: isIgnored)
                    guard let cells else {
                        #expect(origins == nil, "seed \(seed) @\(end) \(address)")
                        continue
                    }
                    let others = then.live.filter { $0.keyOrdinal == 0 }
                    let columns = others.isEmpty ? then.key : others
                    let expected = columns.map { column -> String in
                        let setters = cells.setters[column.id] ?? [cells.insert]
                        let origin = setters.last { !isLooked[$0]! } ?? setters[0]
                        let isFirst = isLooked[origin]!
                        let isKey = column.keyOrdinal > 0
                        let value =
                            isKey
                            ? address.key[column.keyOrdinal - 1] : cells.values[column.id] ?? Cell(column.fallback)
                        // A column that the insert didn't name began with the row.
                        return "\(column.name) \(isFirst ? cells.insert : origin) \(isFirst) \(value.exact.value)"
                    }
                    let found = (origins ?? []).map {
                        "\($0.field.column) \($0.position) \($0.isIgnored) \($0.field.value)"
                    }
                    #expect(found == expected, "seed \(seed) @\(end) \(address)")
                }
            }
        }
    }

    @Test("The last events are those of the rows that exist", arguments: TestSettings.seeds(2, from: 9_500))
    func lastEventsOfRows(seed: UInt64) async throws {
        let engine = try await NetDifferenceTests.history(seed).0
        try await engine.withWriter { writer, _ in
            let reader = LogReader(writer.database)
            let events = try reader.events()
            for end in stride(from: 1, through: events.count, by: 7) {
                var last: [Address: LoggedEvent] = [:]
                for event in events.prefix(end) { last[Address(entity: event.entity, key: event.key)] = event }
                for entity in writer.catalog.entities {
                    let expected = last.values.filter { $0.entity == entity.id && $0.operation != STORAGE_DELETE }
                    var found: [Int64] = []
                    try reader.forEachLastEvent(of: entity.id, at: Int64(end)) { batch, index in
                        found.append(batch.header.first + Int64(index))
                        return true
                    }
                    #expect(found == expected.map(\.position).sorted(by: >), "seed \(seed) @\(end)")
                }
            }
        }
    }

    /// Every row that ever was, with its cells; nil for those that are gone.
    private static func fold(_ events: some Sequence<LoggedEvent>) -> [Address: Cells?] {
        var rows: [Address: Cells?] = [:]
        for event in events {
            let address = Address(entity: event.entity, key: event.key)
            switch event.operation {
            case STORAGE_DELETE: rows[address] = .some(nil)
            case STORAGE_INSERT:
                rows[address] = Cells(
                    setters: event.new.mapValues { _ in [event.position] }, values: event.new, insert: event.position)
            default:
                guard var cells = rows[address] ?? nil else { continue }
                for (column, value) in event.new {
                    cells.setters[column, default: []].append(event.position)
                    cells.values[column] = value
                }
                rows[address] = cells
            }
        }
        return rows
    }

    private static func isInvalid(_ cell: Cell) -> Bool {
        guard case .text(let bytes) = cell else { return false }
        return String(validating: bytes, as: UTF8.self) == nil
    }
}
