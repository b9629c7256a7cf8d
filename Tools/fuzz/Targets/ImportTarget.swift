import Foundation

@testable import ToolParsing

/// A line of a history that is imported, and what is typed to name points and rows of one.
struct ImportTarget: FuzzTarget {
    static let name = "import"

    func run(_ bytes: UnsafeRawBufferPointer) throws {
        var parser = OperationParser()
        var operation = HistoryOperation()
        do throws(InputError) {
            try parser.parse(bytes, into: &operation)
        } catch {
            guard (0...bytes.count).contains(error.offset) else { found("an error at a place outside of the line") }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { return }
        _ = try? PointArgument(text, now: 1_700_000_000_000_000)
        _ = try? PointRange(text, now: 1_700_000_000_000_000)
        _ = try? TargetArgument(text)
    }
}
