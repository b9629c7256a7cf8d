#if STORAGE_HTTP
    #if canImport(Glibc)
        import Glibc
    #else
        import Darwin
    #endif

    /// A socket of 127.0.0.1 that holds its port for as long as somebody holds it, and answers nobody. Who connects to it is
    /// refused, as it doesn't listen, unless reported to.
    final class LoopbackSocket: Sendable {
        private let descriptor: Int32
        let port: UInt16

        var origin: String { "http://127.0.0.1:\(port)" }

        init() throws {
            let descriptor = try Self.open()
            self.descriptor = descriptor
            var address = Self.address(port: 0)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let failed = Self.withPointer(to: &address) { pointer in
                bind(descriptor, pointer, length) != 0 || getsockname(descriptor, pointer, &length) != 0
            }
            port = UInt16(bigEndian: address.sin_port)
            if failed { throw SystemError(number: errno) }
        }

        /// Begins to connect to a port, and doesn't wait for it.
        private init(connectingTo port: UInt16) throws {
            descriptor = try Self.open()
            self.port = port
            var address = Self.address(port: port)
            let length = socklen_t(MemoryLayout<sockaddr_in>.size)
            _ = Self.withPointer(to: &address) { connect(descriptor, $0, length) }
        }

        deinit { close(descriptor) }

        /// Takes no connection and lets all wait, once those that are returned fill its queue.
        func listenWithFullQueue() throws -> [LoopbackSocket] {
            guard listen(descriptor, 0) == 0 else { throw SystemError(number: errno) }
            return try (0..<4).map { _ in try LoopbackSocket(connectingTo: port) }
        }

        struct SystemError: Error { let number: Int32 }

        private static func open() throws -> Int32 {
            #if canImport(Glibc)
                let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #else
                let descriptor = socket(AF_INET, SOCK_STREAM, 0)
            #endif
            guard descriptor >= 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else { throw SystemError(number: errno) }
            return descriptor
        }

        private static func address(port: UInt16) -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            return address
        }

        private static func withPointer<Result>(
            to address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
        ) -> Result {
            withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
            }
        }
    }
#endif
