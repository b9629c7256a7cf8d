package import StorageCore

/// A message between a hub and its clients over HTTP, as JSON in UTF-8. Both sides use the same code to write and read
/// it.
///
/// Unknown keys are ignored, so either side may be the newer one. Positions, numbers and epochs are integers from 0 to
/// 2^53, the range of JavaScript; ids of lines are lowercase hexadecimal digits.
package protocol HubMessage {
    /// - Throws: ``JSONReader/Malformed``.
    init(from json: inout JSONReader) throws
    func write(to json: inout JSONWriter)
}

extension HubMessage {
    /// - Throws: ``JSONReader/Malformed`` for anything but one such message.
    package init(json: some Sequence<UInt8>) throws {
        var reader = try JSONReader(json)
        try self.init(from: &reader)
        try reader.finish()
    }

    package var json: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }
}

extension JSONReader {
    /// Unwraps a required member.
    func required<Value>(_ value: Value?, _ name: String) throws(Malformed) -> Value {
        guard let value else { throw malformed("\"\(name)\" is missing") }
        return value
    }

    /// Reads an id of 16 bytes.
    mutating func line() throws(Malformed) -> [UInt8] {
        let start = index
        guard let line = Hexadecimal.bytes(try string()), line.count == HubPull.lineLength else {
            throw malformed("\(2 * HubPull.lineLength) hexadecimal digits are expected", at: start)
        }
        return line
    }
}
