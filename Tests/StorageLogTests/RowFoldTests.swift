import CSQLite
import GRDB
import SchemaTestSupport
import StorageCore
import TestSupport
import Testing

@testable import StorageHistory
@testable import StorageLog
@testable import StorageProjections

/// The folds that read a row along its own events, checked against the plain one, ``NetRow/followed(by:)``.
@Suite struct RowFoldTests {
    @Test(
        "A row after an event is what the row's events so far make together",
        arguments: TestSettings.seeds(3, from: 23_000))
    func rowsAfterEvents(seed: UInt64) async throws {
        let (engine, _) = try await NetDifferenceTests.history(seed)
        try await engine.withWriter { writer, _ in
            let reader = LogReader(writer.database)
            var rows: [Int64: NetRow] = [:]
            let wholeRows = try WholeRowReader(writer.database, catalog: writer.catalog)
            var compared = 0
            try reader.forEachBatch(in: 1...reader.head().position) { batch in
                for index in 0..<batch.count {
                    let position = batch.header.first + Int64(index)
                    let (event, previous) = batch.withView { view in
                        (NetRow(view, event: index), view.events[index].previous)
                    }
                    let before = rows.removeValue(forKey: previous)
                    // What is known of a row must reach back to its insert.
                    guard let row = event.existed ? before?.followed(by: event) : event else { continue }
                    rows[position] = row
                    let found = try reader.image(ofEventAt: position)
                    #expect(found.previous == previous)
                    let cells = found.image?.cells.mapValues(\.value)
                    let plain =
                        row.exists ? Dictionary(uniqueKeysWithValues: row.new.map { ($0.column, $0.value) }) : nil
                    #expect(cells == plain, "seed \(seed), @\(position)")
                    let whole = try #require(
                        try wholeRows.event(batch, at: index, commit: batch.commit(ofEvent: index))
                    ).change
                    #expect(whole.before() == (event.existed ? before?.new : nil), "seed \(seed), @\(position)")
                    #expect(whole.after() == (row.exists ? row.new : nil), "seed \(seed), @\(position)")
                    compared += 1
                }
                return true
            }
            #expect(compared > 100)
        }
        try await engine.close()
    }

    @Test("A row that another program had deleted is updated by its next insert, and listed once")
    func insertAfterForeignDelete() async throws {
        let folder = try TemporaryFolder()
        // So long that sealing doesn't lock the other program out.
        let engine = try StorageEngine.open(
            path: folder.path(), configuration: TestStore.configuration(segmentLength: 1_024))
        try await engine.adopt("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.commit("INSERT INTO t(id, v) VALUES (1, 'first'), (2, 'first')")
        let foreign = try DatabaseQueue.foreign(path: folder.path())
        try await foreign.write { try $0.execute(sql: "DELETE FROM t") }
        try foreign.close()
        try await engine.commit("INSERT INTO t(id, v) VALUES (1, 'second'), (2, 'second')")
        try await engine.commit("DELETE FROM t WHERE id = 2")
        try await engine.withWriter { writer, _ in
            let entity = try #require(writer.catalog.entity(named: "t"))
            let reader = LogReader(writer.database)
            let wholeRows = try WholeRowReader(writer.database, catalog: writer.catalog)
            var steps: [String] = []
            try reader.forEachBatch(in: 1...reader.head().position) { batch in
                for index in 0..<batch.count {
                    guard let event = try wholeRows.event(batch, at: index, commit: batch.commit(ofEvent: index)),
                        event.row.entity == entity.id
                    else { continue }
                    let values = [event.change.before(), event.change.after()].map { $0?.first?.value.value ?? .null }
                    steps.append("\(event.operation) \(event.key) \(values)")
                }
                return true
            }
            func step(_ operation: StorageEvent.Operation, _ id: Int64, _ old: String?, _ new: String?) -> String {
                let values = [old, new].map { $0.map(StorageValue.text) ?? .null }
                return "\(operation) \([StorageValue.integer(id)]) \(values)"
            }
            let expected = [
                step(.insert, 1, nil, "first"), step(.insert, 2, nil, "first"), step(.update, 1, "first", "second"),
                step(.update, 2, "first", "second"), step(.delete, 2, "second", nil),
            ]
            #expect(steps == expected)
            var last: [Int64] = []
            let head = try reader.head().position
            try reader.forEachLastEvent(of: entity.id, at: head) { batch, index in
                last.append(batch.header.first + Int64(index))
                return true
            }
            #expect(last == [head - 2])
        }
        try await engine.close()
    }

    /// Another program had deleted it, without an event: what no event has is taken from the insert.
    @Test("An insert replaces a row that is there")
    func insertOfPresentRow() {
        func cell(_ column: UInt32, _ value: Int64) -> NetRow.Cell {
            NetRow.Cell(column: column, value: .integer(value))
        }
        let row = RowAddress(entity: 32, key: [])
        let update = NetRow(
            row: row, firstEntity: 32, existed: true, exists: true, isWhole: false, old: [cell(1, 10)],
            new: [cell(1, 11)])
        let sum = update.followed(by: NetRow(whole: nil, to: [cell(1, 12), cell(2, 20)], of: row))
        #expect(sum.before() == [cell(1, 10), cell(2, 20)])
        #expect(sum.after() == [cell(1, 12), cell(2, 20)])
    }

    @Test("The sum of changes doesn't depend on how they are grouped, whatever another program had deleted")
    func groupsOfChanges() throws {
        func cells(_ first: Int64, _ second: Int64) -> [NetRow.Cell] {
            [NetRow.Cell(column: 1, value: .integer(first)), NetRow.Cell(column: 2, value: .integer(second))]
        }
        let row = RowAddress(entity: 32, key: [])
        let update = NetRow(
            row: row, firstEntity: 32, existed: true, exists: true, isWhole: false, old: [cells(10, 0)[0]],
            new: [cells(11, 0)[0]])
        let insert = NetRow(whole: nil, to: cells(12, 20), of: row)
        let later = NetRow(
            row: row, firstEntity: 32, existed: true, exists: true, isWhole: false, old: [cells(0, 20)[1]],
            new: [cells(0, 21)[1]])
        let delete = NetRow(whole: cells(12, 20), to: nil, of: row)
        for last in [later, delete, NetRow(whole: nil, to: cells(13, 30), of: row)] {
            let group = insert.followed(by: last)
            let sum = update.followed(by: insert).followed(by: last)
            #expect(sum == update.followed(by: group))
            #expect(sum == update.followed(by: try group.bytes.withUnsafeBytes { try NetRow(bytes: $0, key: row.key) }))
            #expect(sum.before() == cells(10, 20))
        }
    }
}
