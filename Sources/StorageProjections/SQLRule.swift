internal import CSQLite
internal import Foundation
internal import GRDB
internal import StorageCore
internal import StorageHistory
internal import StorageLog

/// What a projection in SQL does for events of one table.
struct SQLRule: Sendable, Equatable {
    let operations: Set<StorageEvent.Operation>
    let table: String
    var statements: [String] = []
}

// MARK: Reading

extension SQLRule {
    /// Takes a text apart: what makes the tables, and the rules.
    static func read(_ text: String) throws -> (preparation: String, rules: [SQLRule]) {
        var preparation = ""
        var rules: [SQLRule] = []
        var pending = ""
        func finish() throws {
            guard pending.contains(where: { !$0.isWhitespace }) else { return }
            if rules.isEmpty {
                preparation = pending
            } else {
                rules[rules.count - 1].statements = try statements(of: pending)
            }
            pending = ""
        }
        // By scalars: CR and LF are one character.
        for line in text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(Substring.init) {
            guard let rule = try heading(line) else {
                pending += line + "\n"
                continue
            }
            try finish()
            rules.append(rule)
        }
        try finish()
        guard !rules.isEmpty else {
            throw StorageError(
                .invalidArgument, "The projection has no rule.",
                remedy: "Write a line such as `-- on insert, update of TABLE`, and statements after it.")
        }
        return (preparation, rules)
    }

    /// `-- on insert, update of orders`; nil for any other line.
    private static func heading(_ line: Substring) throws -> SQLRule? {
        let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "," || $0 == "\r" })
        guard words.count > 4, words[0] == "--", words[1].lowercased() == "on",
            let of = words.firstIndex(where: { $0.lowercased() == "of" }), of > 2
        else { return nil }
        guard of + 1 < words.count else { return nil }
        var operations: Set<StorageEvent.Operation> = []
        for word in words[2..<of] where word.lowercased() != "or" {
            guard let operation = StorageEvent.Operation(rawValue: word.lowercased()) else {
                throw StorageError(
                    .invalidArgument, "\"\(line)\" names no event: '\(word)' isn't one.",
                    remedy: "Write insert, update or delete; begin other comments in another way.")
            }
            operations.insert(operation)
        }
        // A table's name may hold anything, so it is the rest of the line.
        var table = line[words[of].endIndex...].trimmingCharacters(in: .whitespacesAndNewlines)
        if table.count > 2, table.hasPrefix("\""), table.hasSuffix("\"") {
            table = String(table.dropFirst().dropLast()).replacingOccurrences(of: "\"\"", with: "\"")
        }
        return SQLRule(operations: operations, table: table)
    }

    /// The statements of a text. SQLite reports where one ends, so semicolons in texts and triggers don't matter.
    private static func statements(of text: String) throws -> [String] {
        var statements: [String] = []
        var pending = ""
        for part in text.split(separator: ";", omittingEmptySubsequences: false) {
            pending += part + ";"
            guard sqlite3_complete(pending) != 0 else { continue }
            statements.append(pending.trimmingCharacters(in: .whitespacesAndNewlines))
            pending = ""
        }
        // The last part ends with a semicolon that isn't in the text, so what is left is open in some other way.
        guard !pending.contains(where: { !$0.isWhitespace }) else {
            throw StorageError(
                .invalidArgument,
                "A statement has no end: \(pending.prefix(80).trimmingCharacters(in: .whitespacesAndNewlines))",
                remedy: "Close every quote and comment.")
        }
        // A comment alone is no statement.
        let comments = /(?s)(?:--[^\n]*\n?|\/\*.*?\*\/|[\s;])*/.matchingSemantics(.unicodeScalar)
        return statements.filter { $0.wholeMatch(of: comments) == nil }
    }
}

// MARK: Running

extension SQLRule {
    /// A statement with the meanings of its parameters.
    ///
    /// Not `Sendable`: it belongs to its connection's thread.
    struct Prepared {
        private enum Parameter {
            case old(String), new(String)
            case operation, position, commit, time, actor, reason
        }

        private let statement: GRDB.Statement
        private let parameters: [Parameter]
        /// The columns whose values it reads.
        let columns: [String]

        init(_ statement: GRDB.Statement) throws {
            self.statement = statement
            let pointer = statement.sqliteStatement
            parameters = try (0..<sqlite3_bind_parameter_count(pointer)).map { index in
                let name = sqlite3_bind_parameter_name(pointer, index + 1).map { String(cString: $0) } ?? "?"
                return try Self.parameter(name)
            }
            columns = parameters.compactMap { parameter in
                switch parameter {
                case .old(let name), .new(let name): name
                default: nil
                }
            }
        }

        private static func parameter(_ name: String) throws -> Parameter {
            let word = String(name.dropFirst())
            switch word {
            case "op": return .operation
            case "position": return .position
            case "commit": return .commit
            case "time": return .time
            case "actor": return .actor
            case "reason": return .reason
            case _ where word.hasPrefix("old_"): return .old(String(word.dropFirst(4)))
            case _ where word.hasPrefix("new_"): return .new(String(word.dropFirst(4)))
            default:
                throw StorageError(
                    .invalidArgument, "The projection has a parameter \(name), which stands for nothing.",
                    remedy: "There are :old_COLUMN, :new_COLUMN, :op, :position, :commit, :time, :actor and :reason.")
            }
        }

        func run(for event: RowEvent, changing change: RowChange) throws {
            let pointer = statement.sqliteStatement
            let writer = RowWriter(statement: pointer)
            defer { sqlite3_reset(pointer) }
            for (offset, parameter) in parameters.enumerated() {
                try writer.bind(value(of: parameter, for: event, changing: change), at: Int32(offset + 1))
            }
            while true {
                switch storage_step(pointer) {
                case SQLITE_ROW: continue
                case SQLITE_DONE: return
                case let code: throw Connection(of: RowReader(statement: pointer)).error(code)
                }
            }
        }

        private func value(
            of parameter: Parameter, for event: RowEvent, changing change: RowChange
        ) throws -> StorageValue {
            let metadata = event.commit.metadata
            switch parameter {
            case .operation: return .text(event.operation.rawValue)
            case .position: return .integer(event.position)
            case .commit: return .integer(event.commit.number)
            case .time: return .text(HistoryTableInstaller.time(event.commit.time))
            case .actor: return metadata.actor.map(StorageValue.text) ?? .null
            case .reason: return metadata.reason.map(StorageValue.text) ?? .null
            case .old(let name): return try Self.value(of: name, in: change.old, table: change.table)
            case .new(let name): return try Self.value(of: name, in: change.new, table: change.table)
            }
        }

        private static func value(
            of column: String, in row: [String: StorageValue]?, table: String
        ) throws -> StorageValue {
            guard let row else { return .null }
            if let value = row[column] { return value }
            throw StorageError(
                .invalidArgument,
                "The projection reads \"\(column)\" of \"\(table)\", which has no such column.",
                remedy: "Name columns as they are called now, by their exact letters.")
        }
    }
}
