import PredicateTestSupport
import StorageCore

@testable import StorageLog

/// Makes statements on a table: of few keys, so that rows meet often.
struct OperationMaker {
    private let table: TablePlan
    private let words: [String]
    private var generator: PredicateGenerator

    /// - Parameter words: What most texts are.
    init(_ table: TablePlan, words: [String], _ generator: PredicateGenerator) {
        (self.table, self.words, self.generator) = (table, words, generator)
    }

    /// Any kind that is a matter of statements alone.
    mutating func anyKind() -> ViewTraits.Operation {
        generator.pick(ViewTraits.Operation.allCases.filter { $0 != .rollback && $0 != .savepoint })
    }

    mutating func make(_ kind: ViewTraits.Operation) -> [Scenario.Operation] {
        let key = key()
        switch kind {
        // One that is there already is refused, or left alone.
        case .insert: return [insert(generator.pick(["INSERT", "INSERT OR IGNORE"]), key)]
        case .update, .rollback, .savepoint: return [update(key)]
        case .keyChange:
            let set = table.keyNames.map { "\(quoted($0)) = ?" }.joined(separator: ", ")
            let verb = generator.pick(["UPDATE", "UPDATE OR REPLACE"])
            return [Scenario.Operation("\(verb) rows SET \(set) WHERE \(isKey)", self.key() + key)]
        case .reinsert:
            return [Scenario.Operation("DELETE FROM rows WHERE \(isKey)", key), insert("INSERT", key)]
        case .sameRowTwice: return [update(key), update(key)]
        case .nullEdge:
            let column = generator.pick(table.contentNames)
            let name = quoted(column)
            return generator.pick([
                [Scenario.Operation("UPDATE rows SET \(name) = NULL WHERE \(isKey)", key)],
                [Scenario.Operation("UPDATE rows SET \(name) = ? WHERE \(name) IS NULL", [value(of: column)])],
                [
                    Scenario.Operation("UPDATE rows SET \(name) = NULL WHERE \(isKey)", key),
                    Scenario.Operation("UPDATE rows SET \(name) = ? WHERE \(isKey)", [value(of: column)] + key),
                ],
            ])
        case .replace: return [insert("INSERT OR REPLACE", key)]
        case .upsert:
            var operation = insert("INSERT", key)
            let set = table.contentNames.map { "\(quoted($0)) = excluded.\(quoted($0))" }
            let target = table.keyNames.map(quoted).joined(separator: ", ")
            operation.sql += " ON CONFLICT(\(target)) DO UPDATE SET \(set.joined(separator: ", "))"
            return [operation]
        case .bulkUpdate:
            let column = generator.pick(table.contentNames)
            let name = quoted(column)
            let (condition, values) = many(key)
            return generator.pick([
                [Scenario.Operation("UPDATE rows SET \(name) = ? WHERE \(condition)", [value(of: column)] + values)],
                [
                    Scenario.Operation(
                        "UPDATE rows SET \(name) = \(quoted(generator.pick(table.names))) WHERE \(condition)", values)
                ],
            ])
        case .bulkDelete:
            let (condition, values) = many(key)
            return [Scenario.Operation("DELETE FROM rows WHERE \(condition)", values)]
        }
    }

    private var isKey: String { table.keyNames.map { "\(quoted($0)) = ?" }.joined(separator: " AND ") }

    private mutating func key() -> [StorageValue] {
        if table.keyCount == 2 {
            return [.text(generator.pick(["a", "A", "b"])), .integer(Int64(generator.number(0...3)))]
        }
        let number = generator.number(-2...9)
        return [
            table.columns[0].type == "INTEGER"
                ? .integer(Int64(number)) : .text("\(generator.chance(20) ? "K" : "k")\(number)")
        ]
    }

    private mutating func value(of column: String) -> StorageValue {
        let isText = table.columns.contains { $0.name == column && $0.type == "TEXT" }
        return isText && generator.chance(70) ? .text(generator.pick(words)) : generator.value()
    }

    private mutating func insert(_ verb: String, _ key: [StorageValue]) -> Scenario.Operation {
        let marks = table.names.map { _ in "?" }.joined(separator: ", ")
        return Scenario.Operation(
            "\(verb) INTO rows(\(table.names.map(quoted).joined(separator: ", "))) VALUES (\(marks))",
            key + table.contentNames.map { value(of: $0) })
    }

    private mutating func update(_ key: [StorageValue]) -> Scenario.Operation {
        let chosen = table.contentNames.filter { _ in generator.chance(30) }
        let changed = chosen.isEmpty ? [generator.pick(table.contentNames)] : chosen
        let set = changed.map { "\(quoted($0)) = ?" }.joined(separator: ", ")
        return Scenario.Operation(
            "UPDATE rows SET \(set) WHERE \(isKey)", changed.map { value(of: $0) } + key)
    }

    /// A condition that several rows may meet.
    private mutating func many(_ key: [StorageValue]) -> (String, [StorageValue]) {
        let name = quoted(generator.pick(table.contentNames))
        switch generator.number(0...4) {
        case 0: return ("\(quoted(table.names[0])) > ?", [key[0]])
        case 1: return ("\(quoted(table.names[0])) <= ?", [key[0]])
        case 2: return ("\(name) IS NULL", [])
        case 3: return ("\(name) = ?", [generator.value()])
        default: return ("\(name) < ?", [generator.value()])
        }
    }
}
