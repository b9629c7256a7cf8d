import Foundation
import GRDB
import StorageCore
import StorageKit
import StorageLog
import TestSupport

@StorageEntity(table: "cards") struct Card: Equatable, Sendable {
    var id: String
    var title: String
    var score: Double?
    var data: Data?
    var updatedAt: Date
}

/// Makes up commits against tables that come, change their names and columns, and go.
struct ChangingTables {
    enum Step: Sendable {
        case sql(String)
        case save(Card)
        case delete(String)
    }

    struct Commit {
        var steps: [Step] = []
        var changesSchema = false
    }

    static let date = "2026-01-01 00:00:00.000"
    static let cards = """
        CREATE TABLE cards(
          id TEXT NOT NULL PRIMARY KEY, title TEXT NOT NULL, score REAL, data BLOB, updatedAt DATETIME NOT NULL)
        """

    var random: SplitMix64
    var tables: [PlainTable]
    /// Tables that are gone.
    var gone: [PlainTable] = []
    private var numbers = 10

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        let columns = ["title", "score", "data", "updatedAt"]
        tables = [
            PlainTable(
                id: 0, name: "cards", keys: [PlainTable.Column(id: 1, name: "id")],
                columns: columns.enumerated().map { PlainTable.Column(id: $0 + 2, name: $1) })
        ]
    }

    // MARK: Schema

    private mutating func number() -> Int {
        numbers += 1
        return numbers
    }

    private mutating func column(_ prefix: String) -> PlainTable.Column {
        let id = number()
        return PlainTable.Column(id: id, name: "\(prefix)\(id)")
    }

    /// Another table, with two rows in most cases.
    mutating func makeTable() -> String {
        let free = gone.map(\.name).filter { name in !tables.contains { $0.name == name } }
        let id = number()
        var table = PlainTable(
            id: id, name: !free.isEmpty && random.chance(50) ? random.pick(free) : "t\(id)", keys: [column("k")],
            columns: [])
        var types = [random.pick(["TEXT", "INTEGER", "BLOB"])]
        if random.chance(30) {
            table.keys.append(column("l"))
            types = ["TEXT", "INTEGER"]
        }
        table.columns = [column("c"), column("naïve "), column("c")]
        let keys = zip(table.keys, types).map { "\(quoted($0.name)) \($1) NOT NULL" }
        let columns = table.columns.map { column in
            "\(quoted(column.name)) \(type())\(random.pick(["", "", " DEFAULT 5", " DEFAULT 1.0"]))"
        }
        let key = table.keys.map { quoted($0.name) }.joined(separator: ", ")
        let parts = (keys + columns + ["PRIMARY KEY (\(key))"]).joined(separator: ", ")
        keyTypes[id] = types
        tables.append(table)
        let rows = random.chance(70) ? insert(table, " OR REPLACE") : ""
        return "CREATE TABLE \(quoted(table.name))(\(parts)); \(rows)"
    }

    private var keyTypes: [Int: [String]] = [0: ["TEXT"]]

    private mutating func type() -> String { random.pick(["TEXT", "INTEGER", "REAL", "BLOB", "NUMERIC", "", ""]) }

    private mutating func schemaChange() throws -> String? {
        guard tables.count > 1 else { return nil }
        let index = 1 + random.below(tables.count - 1)
        let table = quoted(tables[index].name)
        switch random.below(10) {
        case 0..<4:
            let free = tables[index].gone.map(\.name).filter { name in
                !tables[index].columns.contains { $0.name == name }
            }
            var column = column("c")
            if !free.isEmpty, random.chance(60) { column.name = random.pick(free) }
            let defaults = [
                "", "", " DEFAULT 7", " DEFAULT 'x'", " DEFAULT 1.0", " DEFAULT x'00'", " DEFAULT -2.5",
                " DEFAULT 9e999",
                " NOT NULL DEFAULT 1.5", " DEFAULT (1.0)", " DEFAULT '1'",
            ]
            let definition = "\(quoted(column.name)) \(type())\(random.pick(defaults))"
            column.fallback = try PlainMirror.fallback(definition)
            tables[index].columns.append(column)
            return "ALTER TABLE \(table) ADD COLUMN \(definition)"
        case 4, 5:
            let count = tables[index].keys.count
            let place = random.below(count + tables[index].columns.count)
            let (old, new) = (
                (tables[index].keys + tables[index].columns)[place].name, column(place < count ? "k" : "c").name
            )
            if place < count {
                tables[index].keys[place].name = new
            } else {
                tables[index].columns[place - count].name = new
            }
            return "ALTER TABLE \(table) RENAME COLUMN \(quoted(old)) TO \(quoted(new))"
        case 6, 7:
            guard tables[index].columns.count > 1 else { return nil }
            let column = tables[index].columns.remove(at: random.below(tables[index].columns.count))
            tables[index].gone.append(column)
            return "ALTER TABLE \(table) DROP COLUMN \(quoted(column.name))"
        case 8:
            tables[index].name = "t\(number())"
            return "ALTER TABLE \(table) RENAME TO \(quoted(tables[index].name))"
        default:
            guard tables.count > 3 else { return nil }
            let gone = tables.remove(at: index)
            self.gone.append(gone)
            return random.chance(50) ? "DELETE FROM \(table); DROP TABLE \(table)" : "DROP TABLE \(table)"
        }
    }

    // MARK: Rows

    mutating func commit() throws -> Commit {
        var commit = Commit()
        for _ in 0...random.below(4) {
            if random.chance(7), let sql = try schemaChange() {
                commit.steps.append(.sql(sql))
                commit.changesSchema = true
            } else if random.chance(25) {
                commit.steps.append(card())
            } else if tables.count > 1 {
                commit.steps.append(.sql(statement(tables[1 + random.below(tables.count - 1)])))
            }
        }
        return commit
    }

    private mutating func cardId() -> String { random.pick(["a", "A", "b", "é", "", "1", "1,2", "a "]) }

    private mutating func card() -> Step {
        switch random.below(8) {
        case 0..<4:
            return .save(
                Card(
                    id: cardId(), title: random.pick(["one", "two", "", "l'été"]),
                    score: random.pick([nil, 1, -0.5, Double.infinity, -Double.infinity, 1e300] as [Double?]),
                    data: random.pick([nil, Data(), Data([0, 255])] as [Data?]),
                    updatedAt: Date(timeIntervalSince1970: 1_767_225_600)))
        case 4: return .delete(cardId())
        case 5: return .sql("UPDATE cards SET title = title || '!' WHERE id > \(text(cardId()))")
        case 6: return .sql("UPDATE OR REPLACE cards SET id = \(text(cardId())) WHERE id = \(text(cardId()))")
        default: return .sql("UPDATE cards SET score = score + 1, data = NULL WHERE id = \(text(cardId()))")
        }
    }

    private func text(_ value: String) -> String { "'\(value.replacing("'", with: "''"))'" }

    private mutating func value() -> String {
        random.pick([
            "NULL", "1", "-7", "1.5", "1.0", "9e999", "-9e999", "'a'", "'é \"x\"'", "''", "'1'", "'1.0'", "x''",
            "x'00ff'",
            "9223372036854775807", "0.1", "(0.0 * -1)",
        ])
    }

    private mutating func key(_ table: PlainTable) -> [String] {
        (keyTypes[table.id] ?? []).map { type in
            switch type {
            case "TEXT": random.pick(["'a'", "'A'", "'b'", "'é'", "''", "'1'", "'1,2'", "'%2C'"])
            case "BLOB": random.pick(["x'01'", "x'0a'", "x''", "x'00ff'"])
            default: random.pick(["1", "2", "3", "4", "-5", "9007199254740993"])
            }
        }
    }

    private mutating func condition(_ table: PlainTable) -> String {
        zip(table.keys, key(table)).map { "\(quoted($0.name)) = \($1)" }.joined(separator: " AND ")
    }

    private mutating func insert(
        _ table: PlainTable, _ or: String, key given: [String]? = nil,
        then: ([PlainTable.Column]) -> String = { _ in "" }
    ) -> String {
        let columns = table.columns.filter { _ in random.chance(75) }
        let names = (table.keys + columns).map { quoted($0.name) }.joined(separator: ", ")
        let rows = (0...(given == nil ? random.below(3) : 0)).map { _ in
            "(\(((given ?? key(table)) + columns.map { _ in value() }).joined(separator: ", ")))"
        }
        return "INSERT\(or) INTO \(quoted(table.name))(\(names)) VALUES \(rows.joined(separator: ", "))\(then(columns))"
    }

    private mutating func statement(_ table: PlainTable) -> String {
        let name = quoted(table.name)
        let columns = table.columns.filter { _ in random.chance(40) } + [random.pick(table.columns)]
        let assignments = Set(columns).sorted { $0.id < $1.id }.map { "\(quoted($0.name)) = \(value())" }.joined(
            separator: ", ")
        switch random.below(12) {
        case 0..<3: return insert(table, random.pick(["", " OR REPLACE", " OR IGNORE"]))
        case 3, 4:
            let keys = table.keys.map { quoted($0.name) }.joined(separator: ", ")
            return insert(table, "") { columns in
                let sets = columns.map { "\(quoted($0.name)) = excluded.\(quoted($0.name))" }.joined(separator: ", ")
                return " ON CONFLICT (\(keys)) DO \(sets.isEmpty ? "NOTHING" : "UPDATE SET \(sets)")"
            }
        case 5, 6: return "UPDATE \(name) SET \(assignments) WHERE \(condition(table))"
        case 7: return "UPDATE \(name) SET \(assignments)"
        case 8:
            let key = random.pick(Array(zip(table.keys, key(table))))
            let or = random.pick(["", " OR REPLACE", " OR IGNORE"])
            return "UPDATE\(or) \(name) SET \(quoted(key.0.name)) = \(key.1) WHERE \(condition(table))"
        case 9: return "DELETE FROM \(name) WHERE \(condition(table))"
        case 10: return "DELETE FROM \(name) WHERE \(quoted(random.pick(table.columns).name)) = \(value())"
        default:
            let key = key(table)
            let condition = zip(table.keys, key).map { "\(quoted($0.name)) = \($1)" }.joined(separator: " AND ")
            return "DELETE FROM \(name) WHERE \(condition); \(insert(table, "", key: key))"
        }
    }
}
