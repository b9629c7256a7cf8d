import Foundation

@testable import StorageKitTool

/// A value with its own memory, to compare with.
enum OwnedValue: Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// By bits, so that -0.0 isn't 0.0.
    case real(UInt64)
    case text(String)
    case blob([UInt8])
    case json(String)

    init(_ value: HistoryValue) {
        self =
            switch value {
            case .null: .null
            case .bool(let value): .bool(value)
            case .integer(let value): .integer(value)
            case .real(let value): .real(value.bitPattern)
            case .text(let value): .text(value.string)
            case .blob(let value): .blob(Array(value))
            case .json(let value): .json(value.string)
            }
    }
}

/// Scans a document that is one value. The bytes are copied to memory of exactly their size, so that an address
/// sanitizer would notice reading beyond them.
func scan(_ bytes: [UInt8]) throws(InputError) -> OwnedValue {
    let line = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { line.deallocate() }
    line.copyBytes(from: bytes)
    var scanner = JSONScanner()
    scanner.start(UnsafeRawBufferPointer(line))
    let value = try scanner.value()
    try scanner.finish()
    return OwnedValue(value)
}

func scan(_ text: String) throws(InputError) -> OwnedValue { try scan(Array(text.utf8)) }

/// What the scanner says against a document; nil if it takes it.
func refusal(_ text: String) -> InputError? {
    do throws(InputError) {
        _ = try scan(text)
        return nil
    } catch {
        return error
    }
}

/// A file that is removed when the value goes.
final class TemporaryFile {
    let path: String

    init(_ content: [UInt8]) throws {
        path = NSTemporaryDirectory() + "storagekit-test-\(UUID().uuidString)"
        try Data(content).write(to: URL(fileURLWithPath: path))
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
