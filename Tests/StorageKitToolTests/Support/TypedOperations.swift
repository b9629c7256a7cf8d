import Foundation
import GRDB
import TestSupport

/// An operation on a table with types, with the values as SQLite has them.
struct TypedOperation {
    enum Kind: String { case insert, update, delete }

    let kind: Kind
    let table: String
    let key: [DatabaseValue]
    /// Columns without the key. What isn't there is NULL.
    let row: [(name: String, value: DatabaseValue, isBoolean: Bool)]
    let keyNames: [String]
    /// Whether the row repeats the key's columns.
    let repeatsKey: Bool

    func line(_ tx: Int) -> String {
        let id =
            key.count == 1
            ? Self.id(key[0]) : key.map { Self.id($0).replacing(",", with: "%2C") }.joined(separator: ",")
        var members = row.map { "\"\($0.name)\":\(Self.json($0.value, isBoolean: $0.isBoolean))" }
        if repeatsKey { members += zip(keyNames, key).map { "\"\($0)\":\(Self.json($1, isBoolean: false))" } }
        let rest = kind == .delete ? "" : ",\"row\":{\(members.joined(separator: ","))}"
        return "{\"tx\":\(tx),\"op\":\"\(kind.rawValue)\",\"table\":\"\(table)\",\"id\":\"\(id)\"\(rest)}"
    }

    private static func id(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .string(let text): text
        default: ""
        }
    }

    private static func json(_ value: DatabaseValue, isBoolean: Bool) -> String {
        switch value.storage {
        case .null: "null"
        case .int64(let number): isBoolean ? "\(number == 1)" : "\(number)"
        case .double(let number): "\(number)"
        case .string(let text): "\"\(text)\""
        case .blob(let data): "{\"$blob\":\"\(data.base64EncodedString())\"}"
        }
    }
}

/// Makes up schemas with types and constraints, and operations that fit them mostly.
struct TypedOperations {
    private var random: SplitMix64
    private var columns: [String: [(name: String, type: String)]] = [:]
    private var keys: [String: [(name: String, type: String)]] = [:]

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    /// A parent and a child that refers to it, and triggers that an import must not run.
    mutating func schema() -> (tables: String, triggers: String) {
        let isStrict = random.chance(40)
        let types =
            isStrict
            ? ["INTEGER", "TEXT", "REAL", "BLOB", "ANY"]
            : ["INTEGER", "VARCHAR(9)", "REAL", "BLOB", "NUMERIC", "", "BOOLEAN"]
        let keyType = random.pick(["INTEGER", "TEXT"])
        keys["parent"] = [("k", keyType)]
        keys["child"] = random.chance(50) ? [("c", "INTEGER")] : [("c", "TEXT"), ("d", "INTEGER")]
        for table in ["parent", "child"] {
            columns[table] = (0..<4).map { (name: "v\($0)", type: random.pick(types)) }
        }
        columns["child"]?.append((name: "ref", type: keyType))
        let action = random.pick(["CASCADE", "SET NULL", "RESTRICT", "NO ACTION", "SET DEFAULT"])
        let reference =
            "REFERENCES parent(k) ON DELETE \(action)\(random.chance(50) ? " DEFERRABLE INITIALLY DEFERRED" : "")"
        let collation = keyType == "TEXT" && random.chance(50) ? " COLLATE NOCASE" : ""
        var parent = ["k \(keyType) NOT NULL PRIMARY KEY\(collation)"]
        var child = keys["child"]?.map { "\($0.name) \($0.type) NOT NULL" } ?? []
        for (index, column) in (columns["parent"] ?? []).enumerated() {
            let constraint = ["", " NOT NULL DEFAULT 5", " CHECK (v2 IS NOT 3)", " UNIQUE ON CONFLICT REPLACE"][index]
            parent.append("\(column.name) \(column.type)\(constraint)")
        }
        for column in columns["child"] ?? [] {
            child.append("\(column.name) \(column.type)\(column.name == "ref" ? " \(reference)" : "")")
        }
        child.append("PRIMARY KEY (\((keys["child"] ?? []).map(\.name).joined(separator: ", ")))")
        let end = isStrict ? ") STRICT;\n" : ");\n"
        return (
            "CREATE TABLE parent(\(parent.joined(separator: ", "))\(end)CREATE TABLE child(\(child.joined(separator: ", "))\(end)",
            """
            CREATE TRIGGER less AFTER INSERT ON parent BEGIN DELETE FROM child; END;
            CREATE TRIGGER refused BEFORE UPDATE ON child BEGIN SELECT RAISE(IGNORE); END;
            CREATE TRIGGER other AFTER DELETE ON child BEGIN UPDATE parent SET v0 = NULL; END;
            """
        )
    }

    mutating func commit(knowing known: [String: [[DatabaseValue]]]) -> [TypedOperation] {
        (0...random.below(3)).map { _ in operation(known) }
    }

    private mutating func operation(_ known: [String: [[DatabaseValue]]]) -> TypedOperation {
        let table = random.pick(["parent", "parent", "child"])
        let kind = random.pick([TypedOperation.Kind.insert, .insert, .update, .delete])
        let key = keys[table] ?? []
        var values = key.map { keyValue($0.type) }
        if kind != .insert, random.chance(80), let found = known[table], !found.isEmpty { values = random.pick(found) }
        var row: [(name: String, value: DatabaseValue, isBoolean: Bool)] = []
        for column in columns[table] ?? [] where random.chance(85) && kind != .delete {
            if column.name == "ref" {
                let parents = (known["parent"] ?? []).map { $0[0] }
                let value = parents.isEmpty || random.chance(10) ? keyValue(column.type) : random.pick(parents)
                row.append((column.name, random.chance(20) ? .null : value, false))
            } else {
                row.append((column.name, value(column.type), column.type == "BOOLEAN"))
            }
        }
        return TypedOperation(
            kind: kind, table: table, key: values, row: row, keyNames: key.map(\.name),
            repeatsKey: kind != .delete && random.chance(50))
    }

    private mutating func keyValue(_ type: String) -> DatabaseValue {
        type == "INTEGER" ? random.below(9).databaseValue : random.pick(["a", "A", "b", "B,b", "7", "c"]).databaseValue
    }

    /// Of the column's kind in nine cases of ten.
    private mutating func value(_ type: String) -> DatabaseValue {
        let any: [DatabaseValue] = [
            .null, 1.databaseValue, 3.databaseValue, 9_007_199_254_740_993.databaseValue, 1.5.databaseValue,
            2.0.databaseValue, "x".databaseValue, "12".databaseValue, " 1.0".databaseValue, "".databaseValue,
            Data([1, 2]).databaseValue,
        ]
        guard type != "BOOLEAN" else { return random.below(2).databaseValue }
        guard random.chance(90) else { return random.pick(any) }
        switch type {
        case "INTEGER", "NUMERIC": return random.below(40).databaseValue
        case "REAL": return (Double(random.below(40)) / 4).databaseValue
        case "VARCHAR(9)", "TEXT": return random.pick(["x", "12", "y", "3.0", "Ä"]).databaseValue
        case "BLOB": return random.pick([Data([0]), Data([1, 2])]).databaseValue
        default: return random.pick(any)
        }
    }
}

/// Tables of plain SQLite to which operations are applied as they stand, without triggers and without what foreign keys do.
final class PlainTables {
    private let queue: DatabaseQueue

    init(_ sql: String, at path: String) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: sql) }
    }

    private struct Refused: Error {}

    /// - Returns: Whether all of it is possible; if not, nothing of it is done.
    func apply(_ commit: [TypedOperation]) throws -> Bool {
        do {
            try queue.write { db in
                for operation in commit { try Self.apply(operation, db) }
                guard try Row.fetchOne(db, sql: "PRAGMA foreign_key_check") == nil else { throw Refused() }
            }
            return true
        } catch is Refused {
            return false
        } catch let error as DatabaseError where [.SQLITE_CONSTRAINT, .SQLITE_MISMATCH].contains(error.resultCode) {
            return false
        }
    }

    private static func apply(_ operation: TypedOperation, _ db: Database) throws {
        let columns = try db.columns(in: operation.table).map(\.name)
        let key = operation.keyNames.map { "\($0) COLLATE BINARY IS ?" }.joined(separator: " AND ")
        let arguments = StatementArguments(operation.key)
        let values = Dictionary(uniqueKeysWithValues: operation.row.map { ($0.name, $0.value) })
        let others = columns.filter { !operation.keyNames.contains($0) }
        switch operation.kind {
        case .insert:
            let marks = columns.map { _ in "?" }.joined(separator: ", ")
            try db.execute(
                sql:
                    "INSERT OR ABORT INTO \(operation.table)(\((operation.keyNames + others).joined(separator: ", "))) VALUES (\(marks))",
                arguments: StatementArguments(operation.key + others.map { values[$0] ?? .null }))
        case .update:
            let list = others.map { "\($0) = ?" }.joined(separator: ", ")
            try db.execute(
                sql: "UPDATE OR ABORT \(operation.table) SET \(list) WHERE \(key)",
                arguments: StatementArguments(others.map { values[$0] ?? .null }) + arguments)
        case .delete: try db.execute(sql: "DELETE FROM \(operation.table) WHERE \(key)", arguments: arguments)
        }
        guard db.changesCount == 1 else { throw Refused() }
        guard operation.kind != .delete else { return }
        // A value that was converted isn't what the line says.
        let list = others.map { "quote(\($0)) AS \($0)" }.joined(separator: ", ")
        let row = try Row.fetchOne(db, sql: "SELECT \(list) FROM \(operation.table) WHERE \(key)", arguments: arguments)
        for name in others {
            let given = try String.fetchOne(db, sql: "SELECT quote(?)", arguments: [values[name] ?? .null])
            guard row?[name] as String? == given else { throw Refused() }
        }
    }

    func keys() throws -> [String: [[DatabaseValue]]] {
        try queue.read { db in
            var found: [String: [[DatabaseValue]]] = [:]
            for table in ["parent", "child"] {
                let names = try db.primaryKey(table).columns
                found[table] = try Row.fetchAll(db, sql: "SELECT \(names.joined(separator: ", ")) FROM \(table)").map {
                    Array($0.databaseValues)
                }
            }
            return found
        }
    }

    func rows(of table: String) throws -> Set<String> { try queue.read { try Self.rows(of: table, $0) } }

    static func rows(of table: String, _ db: Database) throws -> Set<String> {
        let names = try db.columns(in: table).map(\.name).filter { $0 != "_position" }
        let list = names.map { "quote(\($0))" }.joined(separator: " || ' ' || ")
        return try String.fetchSet(db, sql: "SELECT \(list) FROM \(table)")
    }
}
