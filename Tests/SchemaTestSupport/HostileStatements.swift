package import TestSupport

/// Makes up commits against the tables of ``HostileTables``: sensible statements, useless ones, and ones that fail.
package struct HostileStatements: RandomStatements {
    package var random: SplitMix64

    package init(seed: UInt64) { random = SplitMix64(seed: seed) }

    private mutating func text() -> String {
        random.pick(["'a'", "'A'", "'a '", "'b'", "'B'", "'b  '", "'c'", "''", "' '"])
    }
    private mutating func name() -> String { random.pick(["'a'", "'A'", "'b'", "'B'", "'c'"]) }
    private mutating func number() -> String { "\(random.below(6))" }
    private mutating func value() -> String {
        random.pick([
            "NULL", "1", "1.0", "'1'", "'007'", "x'31'", "0.0", "(0.0 * -1)", "2", "'fail'", "'abort'", "'ignore'", "7",
            "1e300", "'a'", "'A'",
        ])
    }
    private mutating func conflict() -> String {
        random.pick(["", "", "", " OR REPLACE", " OR IGNORE", " OR FAIL", " OR ABORT"])
    }

    /// The statements of a commit, some of them in savepoints.
    package mutating func commit() -> [String] {
        let start = random.chance(30) ? ["PRAGMA defer_foreign_keys = ON"] : []
        return start + statements(upTo: 5)
    }

    package mutating func statement() -> String {
        let or = conflict()
        switch random.below(22) {
        case 0, 1: return "INSERT\(or) INTO person(name, nick, n) VALUES (\(name()), \(text()), \(value()))"
        case 2:
            return "INSERT INTO person(name, n) VALUES (\(name()), 1) ON CONFLICT DO UPDATE SET name = excluded.name"
        case 3: return "UPDATE\(or) person SET name = \(name()) WHERE name = \(name())"
        case 4: return "UPDATE\(or) person SET name = \(random.pick(["upper", "lower"]))(name)"
        case 5: return "UPDATE\(or) person SET nick = \(text()), n = \(value()) WHERE name > \(name())"
        case 6: return "DELETE FROM person WHERE name = \(name())"
        case 7, 8:
            return
                "INSERT\(or) INTO box(id, p, q, r) VALUES (\(number()), \(value()), \(text()), 1), (\(number()), \(value()), \(text()), 0.5)"
        case 9: return "UPDATE\(or) box SET p = \(value()), q = \(text()) WHERE id > \(number())"
        case 10: return "UPDATE\(or) box SET id = \(number()) WHERE id = \(number())"
        case 11: return "DELETE FROM box WHERE id = \(number())"
        case 12: return "INSERT\(or) INTO tally(k, v) VALUES (\(value()), \(number())), (\(value()), 7)"
        case 13: return "INSERT\(or) INTO tally(k, v) VALUES (\(value()), \(number()))"
        case 14: return "UPDATE\(or) tally SET k = \(value()), v = \(number()) WHERE k = \(value())"
        case 15: return "INSERT\(or) INTO pair(a, b, v) VALUES (\(text()), \(number()), \(value()))"
        case 16: return "UPDATE\(or) pair SET a = \(text()) WHERE b = \(number())"
        case 17: return "UPDATE\(or) pair SET b = b + \(number()), v = \(value()) WHERE a = \(text())"
        case 18: return swap()
        case 19: return "INSERT\(or) INTO part(id, owner, box, note) VALUES (\(number()), \(name()), \(number()), NULL)"
        case 20:
            return "UPDATE\(or) part SET owner = \(name()), box = \(number()), note = \(text()) WHERE id = \(number())"
        default: return "DELETE FROM \(random.pick(["part", "pair", "tally"])) WHERE rowid % 2 = \(random.below(2))"
        }
    }

    /// Two rows exchange what must be unique.
    private mutating func swap() -> String {
        switch random.below(3) {
        case 0:
            "UPDATE box SET id = -1 WHERE id = 1; UPDATE box SET id = 1 WHERE id = 2; UPDATE box SET id = 2 WHERE id = -1"
        case 1:
            "UPDATE person SET nick = 'x' WHERE nick = 'a'; UPDATE person SET nick = 'a' WHERE nick = 'b'; UPDATE person SET nick = 'b' WHERE nick = 'x'"
        default:
            "UPDATE person SET name = 'x' WHERE name = 'a'; UPDATE person SET name = 'A' WHERE name = 'b'; UPDATE person SET name = 'B' WHERE name = 'x'"
        }
    }
}
