#if STORAGE_SERVER
    internal import HTTPTypes
    internal import Hummingbird
    internal import NIOCore
    internal import StorageCore
    internal import StorageSync

    /// An authenticated request to the hub.
    struct HubRequest: Sendable {
        let request: Request
        let token: HubToken
        let access: HubAccess
        let limits: HubLimits
        /// The share of the memory for all bodies.
        let memory: BodyMemory.Share

        /// The names and values in the URL's query.
        ///
        /// - Throws: ``QueryItems/Malformed``.
        func query() throws -> QueryItems { try QueryItems(request.uri.query ?? "") }

        /// Whether the client accepts a stream of events: `Accept` has the type, with a weight above 0. Source: RFC 9110,
        /// section 12.5.1.
        var acceptsEvents: Bool {
            (request.headers[.accept] ?? "").headerList.contains { range in
                let parts = range.split(separator: ";").map(\.trimmed)
                guard parts.first == "text/event-stream" else { return false }
                let weight = parts.first { $0.hasPrefix("q=") }
                return weight.map { Double($0.dropFirst(2)) ?? 0 > 0 } ?? true
            }
        }

        /// Reads the body as JSON.
        ///
        /// - Throws: ``HubProblem`` for another media type, a body that exceeds the limits, and a timeout;
        ///   ``JSONReader/Malformed``.
        func message<Message: HubMessage & Sendable>(
            _ type: Message.Type, types: Set<String> = ["application/json"]
        ) async throws -> Message { try Message(json: try await body(types: types)) }

        func body(types: Set<String>) async throws -> [UInt8] {
            let type = request.headers[.contentType].map { $0.prefix { $0 != ";" } } ?? ""
            guard types.contains(type.trimmed.lowercased()) else {
                throw HubProblem(.unsupportedMediaType, "Send \(types.sorted().joined(separator: " or ")).")
            }
            let encoding = request.headers[.contentEncoding]?.lowercased() ?? "identity"
            guard encoding == "identity" else {
                throw HubProblem(.unsupportedMediaType, "Send the body without a content encoding.")
            }
            let (request, limits, memory) = (request, limits, memory)
            let start = ContinuousClock.now
            return try await withThrowingTaskGroup(of: [UInt8].self) { group in
                group.addTask {
                    var bytes: [UInt8] = []
                    for try await part in request.body {
                        guard bytes.count + part.readableBytes <= limits.bodyBytes else {
                            throw HubProblem(.tooLarge, "A body may have up to \(limits.bodyBytes) bytes.")
                        }
                        guard memory.take(part.readableBytes) else {
                            throw HubProblem(.unavailable, "The hub is receiving too much data now. Try again later.")
                        }
                        bytes += part.readableBytesView
                    }
                    return bytes
                }
                group.addTask {
                    // The rate counts from the beginning, and something must arrive in each turn: what was received early
                    // is no reason to wait for long.
                    let turn = Duration.seconds(limits.bodySeconds).limited
                    var (time, received) = (turn, 0)
                    while true {
                        try await Task.sleep(until: start + time, clock: .continuous)
                        let bytes = memory.bytes
                        guard bytes - received >= HubLimits.bodyBytesPerSecond,
                            Duration.seconds(bytes / HubLimits.bodyBytesPerSecond) > time - turn
                        else {
                            throw HubProblem(
                                .timedOut, "A body must arrive within \(time.components.seconds) seconds.")
                        }
                        time += turn
                        received = bytes
                    }
                }
                defer { group.cancelAll() }
                // There are two tasks, so there is a first result.
                return try await group.next() ?? []
            }
        }

        /// The precondition in `If-Match` and `If-None-Match`.
        ///
        /// - Throws: ``HubProblem`` for anything but tags or `*`.
        func documentPrecondition() throws -> HubPrecondition? {
            switch (request.headers[.ifMatch].map(EntityTags.init), request.headers[.ifNoneMatch]) {
            case (nil, nil): return nil
            case (nil, "*"): return .absent
            case (.any??, nil): return .exists
            case (.listed(let versions)??, nil): return .versions(Set(versions).sorted())
            default: break
            }
            throw HubProblem(
                .malformed,
                "If-Match takes ETags, or *; If-None-Match takes *; one of them at a time.")
        }
    }
#endif
