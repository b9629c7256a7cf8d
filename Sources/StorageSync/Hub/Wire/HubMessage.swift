/// What a hub and its clients say to each other over HTTP, as JSON in UTF-8. Both sides write and read it with the same code.
///
/// Keys that a reader doesn't know are passed over, so that either side may be the newer one. Positions, numbers and epochs are
/// integers from 0 to 2^53, as JavaScript has them; ids of lines are hexadecimal digits, in lower case.
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
    /// What a message must have.
    func required<Value>(_ value: Value?, _ name: String) throws(Malformed) -> Value {
        guard let value else { throw malformed("\"\(name)\" is missing") }
        return value
    }

    /// Takes an id of 16 bytes.
    mutating func line() throws(Malformed) -> [UInt8] {
        let start = index
        guard let line = Hexadecimal.bytes(try string()), line.count == HubPull.lineLength else {
            throw malformed("\(2 * HubPull.lineLength) hexadecimal digits are expected", at: start)
        }
        return line
    }
}
