internal import Foundation
internal import StorageCore
internal import StorageLog

extension JSONValue {
    /// The fields of a patch as a service accepts them: texts, numbers and booleans as such, nil for removed fields,
    /// anything else as a value that encodes to its JSON.
    ///
    /// - Parameter patch: JSON texts by key.
    static func fields(_ patch: [String: String]) throws -> [String: any DMCodableSendable] {
        try patch.mapValues { text -> any DMCodableSendable in
            switch try _StorageJSON.value(JSONValue.self, of: .text(text)) {
            case .null: String?.none
            case .bool(let value): value
            case .integer(let value): Int(value)
            case .number(let value): value
            case .string(let value): value
            case let value: value
            }
        }
    }
}
