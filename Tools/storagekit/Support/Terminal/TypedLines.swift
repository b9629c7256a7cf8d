/// The lines of standard input, each as soon as it has arrived.
final class TypedLines {
    private let file: FileInput
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 12, alignment: 16)
    private var splitter = LineSplitter(limit: .max)
    /// Lines that have arrived, the next one last.
    private var arrived: [LineSplitter.Line] = []

    init() throws(CommandError) { file = try FileInput(path: "-") }

    deinit { buffer.deallocate() }

    /// Returns the next line without its line break; nil at the end.
    func next() throws(CommandError) -> String? {
        while arrived.isEmpty {
            let count = try file.read(into: buffer)
            guard count > 0 else { return Self.text(splitter.rest()) }
            splitter.feed(buffer[..<count]) { arrived.append($0) }
            arrived.reverse()
        }
        return Self.text(arrived.popLast())
    }

    private static func text(_ line: LineSplitter.Line?) -> String? {
        guard case .text(let bytes) = line else { return nil }
        return String(decoding: bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes[...], as: UTF8.self)
    }
}
