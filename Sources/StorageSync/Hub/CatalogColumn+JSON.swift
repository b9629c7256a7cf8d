internal import Foundation
internal import StorageCore
internal import StorageLog
internal import StorageRecords

/// The representation of column values in documents.
extension CatalogColumn {
    /// A value as JSON text; nil for NULL, and for a number that JSON can't express.
    func json(of value: StorageValue) -> String? {
        switch value {
        case .null: nil
        case .integer(let number) where type == ImportedKind.boolean.rawValue && (number == 0 || number == 1):
            number == 1 ? "true" : "false"
        case .integer(let number): String(number)
        case .real(let number): number.isFinite ? "\(number)" : nil
        case .text(let text):
            // SQL may have written it on several lines, which a stream of events can't transfer.
            (isImported && type == ImportedKind.json.rawValue ? JSONReader.compact(text) : nil) ?? JSONText.quoted(text)
        case .blob(let bytes) where coding == "uuid" && bytes.count == 16:
            JSONText.quoted(HubEntityTable.uuid(bytes).uuidString)
        case .blob(let bytes) where isImported && type != ImportedKind.blob.rawValue:
            // A value that isn't of the column's type.
            String(data: bytes, encoding: .utf8).flatMap(JSONReader.compact)
                ?? JSONText.quoted(bytes.base64EncodedString())
        case .blob(let bytes): JSONText.quoted(bytes.base64EncodedString())
        }
    }

    /// Whether a document with a value has this JSON text for it. Texts may be escaped differently.
    func shows(_ value: StorageValue, as json: String) -> Bool {
        guard let shown = self.json(of: value) else { return false }
        if shown.utf8.elementsEqual(json.utf8) { return true }
        guard [shown, json].allSatisfy({ ImportedKind(json: $0) == .text }), let text = try? JSONText.string(json),
            let shownText = try? JSONText.string(shown)
        else { return false }
        return text.utf8.elementsEqual(shownText.utf8)
    }

    /// A value as conditions compare it: as the document shows it, even if the column stores it as bytes or JSON.
    /// Objects and arrays are bytes, which are neither text nor numbers.
    func compared(_ value: StorageValue) -> StorageValue {
        guard isComparedOtherwise(value), let json = json(of: value), var reader = try? JSONReader(json.utf8),
            let json = try? reader.text()
        else { return value }
        return switch ImportedKind(json: json) {
        case .text: (try? JSONText.string(json)).map { .text($0) } ?? value
        case .boolean: .integer(json == "true" ? 1 : 0)
        case .integer: Int64(json).map { .integer($0) } ?? value
        case .real: json == DocumentFields.null ? .null : Double(json).map { .real($0) } ?? value
        case .json, .blob: .blob(Data(json.utf8))
        }
    }

    private func isComparedOtherwise(_ value: StorageValue) -> Bool {
        switch value {
        case .blob: true
        case .text: isImported && type == ImportedKind.json.rawValue
        case .null, .integer, .real: false
        }
    }

    /// Whether ``compared(_:)`` changes nothing but bytes.
    var isComparedAsStored: Bool { !isImported || type != ImportedKind.json.rawValue }

    /// SQL for whether ``compared(_:)`` may change a value of the column.
    var isComparedOtherwiseSQL: String {
        let kinds = isImported && type == ImportedKind.json.rawValue ? "'blob', 'text'" : "'blob'"
        return "typeof(\(quoted(stored))) IN (\(kinds))"
    }

    /// Parses the JSON text of a value.
    ///
    /// The column accepts what it stores without a change; a number may become an equal one, as 2 in a column of reals. A column
    /// of an imported history keeps any other value as its JSON source.
    ///
    /// - Parameter isTyped: Whether typed reads expect values of the column's type.
    /// - Throws: ``HubError/invalid(_:)`` if the column doesn't accept it.
    func value(ofJSON json: String, isTyped: @autoclosure () -> Bool) throws -> StorageValue {
        if json == DocumentFields.null { return .null }
        let value: StorageValue? =
            switch ImportedKind(json: json) {
            case .boolean: type == ImportedKind.boolean.rawValue ? .integer(json == "true" ? 1 : 0) : nil
            case .integer: Int64(json).flatMap { number(.integer($0)) }
            // An integer that overflows isn't read as a real, which would round it.
            case .real where json.contains(where: { ".eE".contains($0) }): real(json)
            case .real: nil
            case .text: try text(JSONText.string(json))
            case .json, .blob: isImported && type == ImportedKind.json.rawValue ? .text(json) : nil
            }
        if isImported { return value ?? .blob(Data(json.utf8)) }
        guard let value, !isTyped() || isReadable(value) else {
            throw HubError.invalid("The field \"\(name)\" doesn't accept this value: its type is \(type).")
        }
        return value
    }

    /// The value for a number with a fraction or an exponent.
    private func real(_ json: String) -> StorageValue? {
        guard let digits = SignificantDigits(json), let value = Double(json) else { return .none }
        if !isImported, affinity == .integer || affinity == .numeric, let integer = digits.integer {
            return number(.integer(integer))
        }
        // A column that can keep the source loses no digit.
        guard value.isExact(as: json, digits, acceptsMore: !isImported) else { return .none }
        return number(.real(value))
    }

    private func number(_ number: StorageValue) -> StorageValue? {
        guard storesNumbers, coding != "uuid", let stored = stored(number) else { return .none }
        // A column of booleans shows 0 and 1 as false and true.
        let isBoolean = type == ImportedKind.boolean.rawValue && (stored == .integer(0) || stored == .integer(1))
        // A literal nil would be a NULL.
        return isBoolean ? .none : stored
    }

    private func text(_ text: String) throws -> StorageValue? {
        guard !text.utf8.contains(0) else {
            throw HubError.invalid(
                "The field \"\(name)\" has a text with the character NUL, which SQLite can't store.")
        }
        if coding == "uuid" {
            return UUID(uuidString: text).map { uuid in .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) }) }
        }
        if isImported { return type == ImportedKind.json.rawValue ? nil : .text(text) }
        // Any spelling and size, such as MEDIUMBLOB.
        if affinity == .blob, type.lowercasedASCII.contains("blob") {
            return Data(base64Encoded: text).map { .blob($0) }
        }
        return stored(.text(text))
    }

    /// The value that SQLite makes of another one in the column; nil if the two aren't equal.
    private func stored(_ value: StorageValue) -> StorageValue? {
        guard !isImported else { return value }
        switch (affinity, value) {
        case (.text, .integer), (.text, .real):
            return .none
        case (.real, .integer(let number)):
            return Double(exactly: number).map { .real($0) }
        case (.integer, .real(let number)), (.numeric, .real(let number)):
            return Int64(exactly: number).map { .integer($0) } ?? value
        case (.integer, .text), (.numeric, .text), (.real, .text):
            guard SQLiteNumber.number(value) == value else { return .none }
            return value
        default:
            return value
        }
    }

    /// Whether a property of the column's type reads exactly this value.
    private func isReadable(_ value: StorageValue) -> Bool {
        let types: [any StorageColumnValue.Type] = [
            Bool.self, Int64.self, Double.self, String.self, Date.self, Data.self,
        ]
        guard let type = types.first(where: { $0.columnType == self.type }) else { return true }
        if type == Double.self, case .integer(let number) = value { return Double(exactly: number) != nil }
        return (try? type.init(storageValue: value)) != nil
    }
}

extension Double {
    /// Whether it is the number in a JSON text with a fraction or an exponent: its shortest text has the same digits. A whole number
    /// that is written out isn't rounded at all.
    ///
    /// - Parameters:
    ///   - digits: Those of the text.
    ///   - acceptsMore: Whether the text may have more digits of the double than it needs, such as `0.10000000000000001`: many programs
    ///     write 17 of each.
    fileprivate func isExact(as json: String, _ digits: SignificantDigits, acceptsMore: Bool) -> Bool {
        guard isFinite else { return false }
        if magnitude >= 0x1p53, !json.contains(where: { "eE".contains($0) }) {
            return digits == SignificantDigits(String(format: "%.0f", self))
        }
        // Two numbers with so few digits are never the same double.
        if isNormal, digits.count <= 15 { return true }
        if digits == SignificantDigits(description) { return true }
        // No double has more.
        guard acceptsMore, 1...767 ~= digits.count else { return false }
        return digits == SignificantDigits(String(format: "%.\(digits.count - 1)e", self))
    }
}

extension StorageValue {
    /// Whether JSON has no number for it, so that a document doesn't show it.
    var isInexpressible: Bool { if case .real(let number) = self { !number.isFinite } else { false } }
}

extension ImportedKind {
    /// - Parameter json: A value as JSON text.
    init(json: String) {
        switch json.utf8.first {
        case UInt8(ascii: "\""): self = .text
        case UInt8(ascii: "t"), UInt8(ascii: "f"): self = .boolean
        case UInt8(ascii: "{"), UInt8(ascii: "["): self = .json
        default: self = Int64(json) == nil ? .real : .integer
        }
    }
}
