import Foundation

extension FileHandle {
    /// What has come, once something has; empty at the end.
    ///
    /// Foundation's own ways end the process where a signal interrupts them.
    func nextBytes() -> Data {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Foundation.read(fileDescriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            return Data(buffer.prefix(max(count, 0)))
        }
    }

    func allBytes() -> Data {
        var bytes = Data()
        while case let more = nextBytes(), !more.isEmpty { bytes += more }
        return bytes
    }
}
