import StorageKit

extension ImportedKind {
    /// Nil for null, which has no kind.
    init?(_ value: HistoryValue) {
        switch value {
        case .null: return nil
        case .bool: self = .boolean
        case .integer: self = .integer
        case .real: self = .real
        case .text: self = .text
        case .blob: self = .blob
        case .json: self = .json
        }
    }

    /// Whether the bytes of a blob are the JSON source of a value that isn't of the column's kind, as an import writes it: then they mean that
    /// value, and not themselves. A blob with the same bytes is stored as the source of its own form, `{"$blob":"base64"}`.
    ///
    /// SQL can store any blob in any column, so bytes that an import wouldn't write again for the exported value are no source, such as a
    /// number that a hub has kept with more digits than a double: an import of the number would round it.
    func isSource(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard self != .blob else { return false }
        var scanner = JSONScanner()
        var json = JSONWriter()
        do throws(InputError) {
            scanner.start(bytes)
            let value = try scanner.value()
            try scanner.finish()
            guard isKeptAsSource(value) else { return false }
            // A hub keeps the escapes with which a text was written.
            if self == .json, case .text = value { return bytes.first == 0x22 && bytes.last == 0x22 }
            json.source(of: value)
        } catch {
            return false
        }
        return json.bytes.elementsEqual(bytes)
    }

    /// Whether a value would be read as another one if a column of this kind held it as it is.
    private func isKeptAsSource(_ value: HistoryValue) -> Bool {
        switch (value, self) {
        case (.null, _): false
        case (.bool, _): self != .boolean
        case (.integer(let number), .boolean): number == 0 || number == 1
        case (.integer, _), (.real, _): self == .text
        // Texts in a column of JSON are the source of a value. An import keeps theirs as text, a hub as a blob.
        case (.text, _): self == .json
        case (.blob, .json), (.json, .json): false
        case (.blob(let bytes), _): isSource(bytes)
        case (.json, _): true
        }
    }
}

extension JSONWriter {
    /// Writes a value as it was read, without the white space between its tokens.
    mutating func source(of value: HistoryValue) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .integer(let value): integer(value)
        case .real(let value): real(value)
        case .text(let value): text(utf8: value)
        case .blob(let value): blob(value)
        case .json(let value): raw(value)
        }
    }
}
