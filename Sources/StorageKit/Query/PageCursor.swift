internal import Foundation
internal import StorageCore

/// The row after which a page of a query begins. It is identified by its sort values and not by its offset, so the cursor stays
/// correct while rows are inserted and deleted.
///
/// ```swift
/// let query = storage.query(Post.self).orderBy(\.createdAt, .descending)
/// let first = try await query.page(size: 50)
/// let link = first.next?.text ?? ""
/// let second = try await query.page(after: PageCursor(text: link), size: 50)
/// ```
///
/// The cursor's text is opaque and can be sent to clients and back, for example in a URL.
public struct PageCursor: Sendable, Hashable, Codable {
    let signature: String
    let values: [StorageValue]

    init(signature: String, values: [StorageValue]) {
        self.signature = signature
        self.values = values
    }

    /// Creates the cursor with a ``text``.
    ///
    /// - Throws: `invalid-argument` for a text that isn't a cursor.
    public init(text: String) throws {
        let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        let padded = base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4)
        guard let data = Data(base64Encoded: padded),
            let form = try? JSONDecoder().decode(Form.self, from: data),
            let values = Self.values(form)
        else {
            throw StorageError(
                .invalidArgument, "This text isn't a page cursor.",
                remedy: "Pass the text of a page's `next` unchanged.")
        }
        self.init(signature: form.order, values: values)
    }

    /// The cursor as text, which ``init(text:)`` reads.
    public var text: String {
        let form = Form(order: signature, values: values.map(Self.text))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // A form that holds only strings can always be encoded.
        let data = (try? encoder.encode(form)) ?? Data()
        return data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Reads the cursor from its ``text``.
    ///
    /// - Throws: ``StorageError`` with `invalid-argument` for a text that isn't a cursor.
    public init(from decoder: any Decoder) throws {
        try self.init(text: try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the cursor as its ``text``.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    private struct Form: Codable {
        let order: String
        let values: [String]
    }

    static func signature(_ table: String, _ order: [RowOrdering]) -> String {
        let terms = order.map { "\($0.column) \($0.order) \($0.collation?.rawValue ?? "")" }
        return ([table] + terms).joined(separator: "\n")
    }

    func check(_ wanted: String, _ count: Int) throws {
        guard signature == wanted, values.count == count else {
            throw StorageError(
                .invalidArgument, "The cursor belongs to another entity or another order.",
                remedy: "Ask for the next page with the query that the cursor came from.")
        }
    }

    /// Returns a letter for the type, followed by the value without loss.
    private static func text(_ value: StorageValue) -> String {
        switch value {
        case .null: "n"
        case .integer(let value): "i\(value)"
        case .real(let value): "r\(value.bitPattern)"
        case .text(let value): "t\(value)"
        case .blob(let value): "b\(value.base64EncodedString())"
        }
    }

    private static func values(_ form: Form) -> [StorageValue]? {
        var values: [StorageValue] = []
        for text in form.values {
            let rest = String(text.dropFirst())
            // By scalars, because a letter and a following combining mark are one character.
            switch text.unicodeScalars.first {
            case "n": values.append(.null)
            case "i":
                guard let value = Int64(rest) else { return nil }
                values.append(.integer(value))
            case "r":
                guard let bits = UInt64(rest) else { return nil }
                values.append(.real(Double(bitPattern: bits)))
            case "t": values.append(.text(String(text.unicodeScalars.dropFirst())))
            case "b":
                guard let value = Data(base64Encoded: rest) else { return nil }
                values.append(.blob(value))
            default: return nil
            }
        }
        return values
    }
}

extension PageCursor: CustomStringConvertible {
    /// The cursor's ``text``.
    public var description: String { text }
}
