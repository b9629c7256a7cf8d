import SchemaTestSupport
import TestSupport

/// Makes up statements against the tables of ``CaptureTables``: sensible ones, useless ones, and ones that fail.
struct StatementGenerator {
    var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    private static let values = [
        "NULL", "0", "1", "-1", "2", "7", "9223372036854775807", "-9223372036854775808", "9007199254740993", "0.5",
        "1.0", "2.0", "(0.0 * -1)", "0.0", "1e999", "-1e999", "1e300", "4503599627370497.5", "1e17",
        "281474976710656.0", "''", "'a'", "'abc'", "'12'", "'1.0'", "'a longer text that updates edit in the middle'",
        "'a longer text that updates change in the middle'", "CAST(x'c3bf' AS TEXT)", "CAST(x'61c280c3bf62' AS TEXT)",
        "CAST(x'c3a9' AS TEXT)", "CAST(x'65cc81' AS TEXT)", "x''", "x'00'", "x'0102ff'", "zeroblob(20)",
        "x'000102030405060708090a0b0c0d0e0f'", "x'000102030405ff0708090a0b0c0d0e0f'",
    ]

    mutating func value() -> String { random.pick(Self.values) }
    private mutating func number() -> String { String(random.below(9) - 2) }
    private mutating func text() -> String { random.pick(["'a'", "'b'", "'c'", "''", "CAST(x'c3bf' AS TEXT)"]) }
    private mutating func loose() -> String {
        random.pick(["1", "1.0", "'1'", "x'31'", "0", "0.0", "(0.0 * -1)", "2", "''", "x''", "1.5"])
    }
    private mutating func conflict() -> String {
        random.pick(["", "", "", " OR REPLACE", " OR IGNORE", " OR FAIL", " OR ABORT"])
    }

    mutating func statement() -> String {
        switch random.below(30) {
        case 0..<5: insertItems()
        case 5..<8: insertPairs()
        case 8..<11: insertChild()
        case 11..<13: insertNode()
        case 13..<15: upsert()
        case 15..<21: update()
        case 21..<25: delete()
        case 25..<27: copy()
        case 27: "INSERT INTO scratch VALUES (\(value()))"
        default: trigger()
        }
    }

    private mutating func insertItems() -> String {
        // Several rows, so that a later one can fail after earlier ones were changed already.
        let rows = (0...random.below(4)).map { _ in
            "(\(random.chance(10) ? "NULL" : number()), \(value()), \(value()), \(value()), \(value()), \(random.chance(50) ? "NULL" : number()))"
        }
        return "INSERT\(conflict()) INTO item(id, a, t, r, n, u) VALUES \(rows.joined(separator: ", "))"
    }

    private mutating func insertPairs() -> String {
        let rows = (0...random.below(3)).map { _ in "(\(text()), \(loose()), \(value()), \(value()))" }
        return "INSERT\(conflict()) INTO pair(x, y, v, w) VALUES \(rows.joined(separator: ", "))"
    }

    private mutating func insertChild() -> String {
        "INSERT\(conflict()) INTO child(id, item, v) VALUES (\(text()), \(random.chance(20) ? "NULL" : number()), \(value())), (\(text()), \(number()), \(value()))"
    }

    private mutating func insertNode() -> String {
        "INSERT\(conflict()) INTO node(id, parent, item) VALUES (\(loose()), \(random.chance(40) ? "NULL" : loose()), \(random.chance(50) ? "NULL" : number()))"
    }

    private mutating func upsert() -> String {
        if random.chance(50) {
            return
                "INSERT INTO item(id, a, u) VALUES (\(number()), \(value()), \(number())), (\(number()), \(value()), NULL) ON CONFLICT(id) DO UPDATE SET a = excluded.a, t = \(value())"
        }
        return
            "INSERT INTO pair(x, y, v) VALUES (\(text()), \(loose()), \(value())) ON CONFLICT(x, y) DO \(random.chance(30) ? "NOTHING" : "UPDATE SET v = excluded.v, w = \(value()) WHERE v IS NOT excluded.v")"
    }

    private mutating func update() -> String {
        let or = conflict()
        switch random.below(13) {
        case 0: return "UPDATE\(or) item SET a = \(value()), r = \(value())"
        case 1: return "UPDATE\(or) item SET n = \(value()) WHERE id > \(number())"
        case 2: return "UPDATE\(or) item SET u = id * 2"
        case 3: return "UPDATE\(or) item SET id = id + \(number()) WHERE id < \(number())"
        case 4: return "UPDATE\(or) item SET id = \(number()) WHERE id = \(number())"
        case 5: return "UPDATE\(or) item SET t = t, r = r, n = n"
        case 6: return "UPDATE\(or) pair SET v = \(value()), w = \(value()) WHERE x = \(text())"
        case 7: return "UPDATE\(or) pair SET x = \(text()), y = \(loose()) WHERE y = \(loose())"
        case 8: return "UPDATE\(or) child SET item = \(number())"
        case 9: return "UPDATE\(or) node SET id = \(loose()) WHERE id = \(loose())"
        case 10: return "UPDATE\(or) pair SET rowid = rowid + 20 WHERE x = \(text())"
        case 11: return "UPDATE\(or) item SET u = \(number()) WHERE id IN (\(number()), \(number()))"
        default: return "UPDATE\(or) item SET _position = \(number()), t = \(value()) WHERE id = \(number())"
        }
    }

    private mutating func delete() -> String {
        switch random.below(8) {
        case 0: "DELETE FROM \(random.pick(["item", "pair", "child", "node", "audit"]))"
        case 1: "DELETE FROM node WHERE id = \(loose())"
        case 2: "DELETE FROM pair WHERE x = \(text())"
        case 3: "DELETE FROM child WHERE item > \(number())"
        case 4: "DELETE FROM audit WHERE id % 2 = 0"
        default: "DELETE FROM item WHERE id \(random.pick(["=", ">", "<", "="])) \(number())"
        }
    }

    private mutating func copy() -> String {
        switch random.below(4) {
        case 0: "INSERT\(conflict()) INTO item(id, a, t) SELECT id + \(number()), a, t FROM item"
        case 1: "INSERT\(conflict()) INTO pair(x, y, v) SELECT id, item, v FROM child WHERE item IS NOT NULL"
        case 2: "INSERT OR IGNORE INTO audit(what) VALUES (\(value()))"
        default: "INSERT\(conflict()) INTO child(id, item) SELECT x, \(number()) FROM pair"
        }
    }

    /// Values that the triggers react to.
    private mutating func trigger() -> String {
        let word = random.pick(["'raise fail'", "'raise abort'", "'raise ignore'", "'touch pairs'", "'add item'"])
        if random.chance(50) { return "UPDATE item SET t = \(word) WHERE id > \(number())" }
        return "INSERT INTO item(id, t) VALUES (\(number()), 'plain'), (\(number()), \(word)), (\(number()), 'plain')"
    }
}
