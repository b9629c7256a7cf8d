#if STORAGE_SERVER
    internal import HTTPTypes
    internal import Hummingbird
    internal import StorageCore

    extension Response {
        /// Server-sent events as an answer.
        ///
        /// - Parameter slot: Released when the stream has ended.
        init<Events: AsyncSequence<[UInt8], any Error> & Sendable>(
            _ stream: Events, slot: StreamCounter.Slot, writeSeconds: Int
        ) {
            let limit = Duration.seconds(writeSeconds).limited
            self.init(
                status: .ok,
                headers: [
                    .contentType: "text/event-stream", .cacheControl: "no-store",
                    // Keeps proxies from buffering the stream.
                    HTTPField.Name("X-Accel-Buffering")!: "no",
                ],
                body: ResponseBody { writer in
                    // Only here: `HEAD`, and a client that is already gone, drop the body and the slot with it.
                    defer { slot.end() }
                    try await ServerSentEventWriter(limit: limit).write(stream, to: writer)
                })
        }
    }
#endif
