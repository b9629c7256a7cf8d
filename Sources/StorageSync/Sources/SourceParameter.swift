internal import Foundation
internal import StorageCore

/// Encodes a source's parameter as text, the same for equal values in each run.
enum SourceParameter {
    /// - Throws: ``StorageError`` with `invalid-argument` if it can't be encoded.
    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        do {
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            throw StorageError(
                .invalidArgument, "The parameter \(value) of a query source can't be encoded.",
                remedy: "Use a type whose values have a form in JSON.", cause: error)
        }
    }
}
