#if STORAGE_SERVER
    internal import StorageCore
    internal import StorageSync

    /// A live query as server-sent events, each created when the previous one was consumed: a slow client receives the combined changes as one event,
    /// and nothing else is buffered for it.
    ///
    /// - `snapshot` contains a ``HubSnapshot``, the whole result, and `difference` a ``HubDifference`` to the next one.
    /// - `position` says that nothing has changed up to a position.
    /// - The id of each of them is the point to resume from.
    /// - `problem` contains a ``HubProblem`` and is the last event: the token isn't accepted any more, the result is too
    ///   large, or the store can't be used.
    /// - `end` is the last event when the server shuts down.
    /// - A comment is sent if nothing has changed for some seconds.
    struct ServerSentResults: AsyncSequence, Sendable {
        /// How long clients wait before they reconnect, in milliseconds.
        private static let retryMilliseconds = 2_000

        private let feed: HubFeed
        private let token: HubToken
        private let tokens: HubTokenFile
        private let first: FirstElement<HubFeed.Event>

        /// - Parameter isResumed: Whether the client has a result already, so that there may be no first event.
        /// - Throws: The errors of ``HubFeed/next(within:)`` for the first event.
        init(of feed: HubFeed, isResumed: Bool, token: HubToken, tokens: HubTokenFile) async throws {
            (self.feed, self.token, self.tokens) = (feed, token, tokens)
            first = FirstElement(isResumed ? nil : try await feed.next(within: ServerSentChanges.silence))
        }

        /// - Precondition: It is the only iterator.
        func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

        struct Iterator: AsyncIteratorProtocol {
            private enum State {
                case begun
                case running
                case ended
            }

            private let stream: ServerSentResults
            private var state = State.begun

            init(stream: ServerSentResults) { self.stream = stream }

            mutating func next() async throws -> [UInt8]? {
                switch state {
                case .ended: return nil
                case .begun:
                    state = .running
                    let retry = Array("retry: \(ServerSentResults.retryMilliseconds)\n\n".utf8)
                    return retry + (stream.first.take().map { bytes(of: $0) } ?? [])
                case .running:
                    do {
                        let event = try await stream.feed.next(within: ServerSentChanges.silence)
                        // The token may have been revoked during the wait.
                        try await stream.tokens.check(stream.token)
                        return bytes(of: event)
                    } catch is CancellationError {
                        throw CancellationError()
                    } catch {
                        state = .ended
                        return ServerSentChanges.event("problem", HubProblem(error).json)
                    }
                }
            }

            private mutating func bytes(of event: HubFeed.Event) -> [UInt8] {
                switch event {
                case .snapshot(let snapshot, let point):
                    return ServerSentChanges.event("snapshot", snapshot.json, id: point.text)
                case .difference(let difference, let point):
                    return ServerSentChanges.event("difference", difference.json, id: point.text)
                case .reached(let position, let point):
                    return ServerSentChanges.event("position", Array("{\"position\":\(position)}".utf8), id: point.text)
                case .silence: return Array(":\n\n".utf8)
                case .end:
                    state = .ended
                    return ServerSentChanges.event("end", Array("{}".utf8))
                }
            }
        }
    }
#endif
