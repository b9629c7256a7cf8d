import Foundation

/// Code that reads what others may have written, and bytes that it is to survive: an answer or an error, never a crash, never
/// memory that isn't its own, never gigabytes for kilobytes.
protocol FuzzTarget {
    static var name: String { get }
    /// Inputs to begin with, by name, where they are made by the program rather than kept as files.
    static func seeds() throws -> [String: [UInt8]]
    init() throws
    func run(_ bytes: UnsafeRawBufferPointer) throws
}

extension FuzzTarget {
    static func seeds() throws -> [String: [UInt8]] { [:] }
}

/// What the target has found wrong by itself.
func found(_ problem: String) -> Never {
    // Sound to crash: this process is the fuzzer's own, which reports a crash as its finding and keeps the input.
    fatalError(problem)
}
