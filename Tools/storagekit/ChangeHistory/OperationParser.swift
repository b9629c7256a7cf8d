import StorageCore

/// Reads lines of change history:
/// `{"tx":12,"at":"…","actor":"anna","op":"update","table":"posts","id":"42","row":{…}}`
///
/// `tx`, `op`, `table` and `id` are required, and `row` unless the row is deleted; `at`, `actor`, `app`, `reason` and `correlation` may be absent or
/// null. Keys may be in any order. Any other key is refused, because it would be lost.
///
/// - Complexity: O(length of the line), without allocating memory once its buffers have grown.
struct OperationParser: ~Copyable {
    private var scanner = JSONScanner()
    private var seen: Keys = []
    /// The offset of `row`, for errors that are only detected at the end of the line.
    private var rowOffset = 0

    /// The keys that were found in the line. `row` counts if it is an object.
    private struct Keys: OptionSet {
        let rawValue: UInt8
        static let tx = Keys(rawValue: 1)
        static let op = Keys(rawValue: 2)
        static let table = Keys(rawValue: 4)
        static let id = Keys(rawValue: 8)
        static let row = Keys(rawValue: 16)
        static let required: Keys = [.tx, .op, .table, .id]
    }

    init() {}

    /// Reads one line, without its line break.
    ///
    /// - Parameter operation: Receives the line's content. After an error it is undefined but safe to reuse.
    mutating func parse(_ line: UnsafeRawBufferPointer, into operation: inout HistoryOperation) throws(InputError) {
        operation.reset()
        seen = []
        rowOffset = 0
        scanner.start(line)
        var scope = try scanner.beginObject()
        while let key = try scanner.nextKey(&scope) {
            try takeValue(of: key, into: &operation)
        }
        try scanner.finish()
        guard seen.isSuperset(of: .required) else { throw missingKey() }
        switch operation.kind {
        case .insert, .update:
            guard seen.contains(.row) else {
                throw InputError(
                    offset: rowOffset, problem: "an \(operation.kind.rawValue) needs a row",
                    remedy: "Write \"row\":{…} with the whole row after the operation.")
            }
        case .delete:
            guard !seen.contains(.row) else {
                throw InputError(
                    offset: rowOffset, problem: "a delete has no row",
                    remedy: "Write \"row\":null, or leave the key out.")
            }
        }
    }

    private mutating func takeValue(of key: ByteSlice, into operation: inout HistoryOperation) throws(InputError) {
        if key.equals("tx") {
            operation.tx = try integer()
            seen.insert(.tx)
        } else if key.equals("at") {
            operation.at = try time(isCut: &operation.isTimeCut)
        } else if key.equals("actor") {
            operation.actor = try optionalText("actor")
        } else if key.equals("op") {
            operation.kind = try kind()
            seen.insert(.op)
        } else if key.equals("table") {
            _ = scanner.peek()
            let start = scanner.position
            operation.table = try text("table", orEmpty: false)
            try check(operation.table, isNameOf: "table", at: start)
            seen.insert(.table)
        } else if key.equals("id") {
            operation.id = try text("id")
            seen.insert(.id)
        } else if key.equals("row") {
            try takeRow(into: &operation)
        } else if key.equals("app") {
            operation.app = try optionalText("app")
        } else if key.equals("reason") {
            operation.reason = try optionalText("reason")
        } else if key.equals("correlation") {
            operation.correlation = try optionalText("correlation")
        } else {
            throw scanner.fail(
                "the key \"\(key.string)\" isn't part of the format",
                "Keys are tx, at, actor, app, reason, correlation, op, table, id and row; columns belong into row.")
        }
    }

    private mutating func takeRow(into operation: inout HistoryOperation) throws(InputError) {
        let next = scanner.peek()
        rowOffset = scanner.position
        if next == UInt8(ascii: "n"), case .null = try scanner.value() { return }
        var scope = try scanner.beginObject()
        while let name = try scanner.nextKey(&scope) {
            guard name.count > 0 else { throw scanner.fail("a column needs a name", "Give the column a name.") }
            // The name ends before the colon; without escapes it has the length of its source.
            try check(name, isNameOf: "column", at: max(scanner.position - name.count - 2, 0))
            operation.columns.append(HistoryOperation.Column(name: name, value: try scanner.value()))
        }
        seen.insert(.row)
    }

    private mutating func integer() throws(InputError) -> Int64 {
        _ = scanner.peek()
        let start = scanner.position
        guard case .integer(let value) = try scanner.value() else {
            throw scanner.fail("tx must be an integer", "Write for example \"tx\":12.", at: start)
        }
        return value
    }

    private mutating func time(isCut: inout Bool) throws(InputError) -> Int64? {
        let next = scanner.peek()
        let start = scanner.position
        if next == UInt8(ascii: "n"), case .null = try scanner.value() { return nil }
        guard case .text(let text) = try scanner.value() else {
            throw scanner.fail("at must be a time in quotes", TimestampProblem.notRFC3339.remedy, at: start)
        }
        do throws(TimestampProblem) {
            let time = try Timestamp.parse(text)
            isCut = Timestamp.isFinerThanMicroseconds(text)
            return time
        } catch {
            throw scanner.fail(error.rawValue, error.remedy, at: start + 1)
        }
    }

    private mutating func kind() throws(InputError) -> HistoryOperation.Kind {
        _ = scanner.peek()
        let start = scanner.position
        if case .text(let text) = try scanner.value() {
            if text.equals("update") { return .update }
            if text.equals("insert") { return .insert }
            if text.equals("delete") { return .delete }
        }
        throw scanner.fail("this operation doesn't exist", "op is \"insert\", \"update\" or \"delete\".", at: start)
    }

    private mutating func optionalText(_ key: StaticString) throws(InputError) -> ByteSlice? {
        _ = scanner.peek()
        let start = scanner.position
        switch try scanner.value() {
        case .text(let text): return text
        case .null: return nil
        default:
            throw scanner.fail("\(key) must be text or null", "Put the value in double quotes.", at: start)
        }
    }

    private mutating func text(_ key: StaticString, orEmpty: Bool = true) throws(InputError) -> ByteSlice {
        _ = scanner.peek()
        let start = scanner.position
        guard case .text(let text) = try scanner.value(), orEmpty || text.count > 0 else {
            throw scanner.fail(
                "\(key) must be text\(orEmpty ? "" : " and not empty")",
                "Write the value in double quotes, such as \"\(key)\":\"42\".", at: start)
        }
        return text
    }

    private func check(_ name: ByteSlice, isNameOf what: StaticString, at offset: Int) throws(InputError) {
        guard name.count > Limits.nameBytes else { return }
        throw scanner.fail(
            "the name of this \(what), \(name.string.prefix(20))…, has \(name.count) bytes",
            "Names have at most \(Limits.nameBytes) bytes; choose a shorter one.", at: offset)
    }

    private func missingKey() -> InputError {
        let missing: StaticString =
            !seen.contains(.tx) ? "tx" : !seen.contains(.op) ? "op" : !seen.contains(.table) ? "table" : "id"
        return scanner.fail("the key \"\(missing)\" is missing", "Every line needs tx, op, table and id.")
    }
}
