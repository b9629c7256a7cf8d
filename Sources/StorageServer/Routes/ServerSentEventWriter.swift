#if STORAGE_SERVER
    internal import Hummingbird
    internal import NIOCore
    internal import Synchronization

    /// Writes a stream of events, and aborts if the client reads nothing for too long. The limit is enforced here and
    /// not by the server, so that it applies in every application.
    ///
    /// Isolation: `Sendable`, its state behind a mutex.
    final class ServerSentEventWriter: Sendable {
        /// Thrown while an answer is written, which closes the connection.
        struct ClientReadsNothing: Error {}

        /// The size of a single write, so that a slow client isn't mistaken for one that reads nothing.
        private static let pieceBytes = 64 << 10

        private let limit: Duration
        /// The start of the write in progress.
        private let start = Mutex<ContinuousClock.Instant?>(nil)

        init(limit: Duration) { self.limit = limit }

        /// Passes a writer to the task that writes. Sound, because only that task uses it: the previous owner waits for
        /// its end.
        private struct Writing: @unchecked Sendable {
            let writer: any ResponseBodyWriter
        }

        /// - Throws: ``ClientReadsNothing``; errors of the stream and the writer.
        func write<Events: AsyncSequence<[UInt8], any Error> & Sendable>(
            _ stream: Events, to writer: any ResponseBodyWriter
        ) async throws {
            let writing = Writing(writer: writer)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    var writer = writing.writer
                    for try await event in stream { try await self.write(ByteBuffer(bytes: event), to: &writer) }
                    try await writer.finish(nil)
                }
                group.addTask { try await self.watch() }
                defer { group.cancelAll() }
                try await group.next()
            }
        }

        private func write(_ bytes: ByteBuffer, to writer: inout any ResponseBodyWriter) async throws {
            var rest = bytes
            while let piece = rest.readSlice(length: min(rest.readableBytes, Self.pieceBytes)), piece.readableBytes > 0
            {
                start.withLock { $0 = .now }
                try await writer.write(piece)
                start.withLock { $0 = nil }
            }
        }

        private func watch() async throws {
            while true {
                let start = start.withLock { $0 }
                try await Task.sleep(until: (start ?? .now) + limit, clock: .continuous)
                if let start, start == self.start.withLock({ $0 }) { throw ClientReadsNothing() }
            }
        }
    }
#endif
