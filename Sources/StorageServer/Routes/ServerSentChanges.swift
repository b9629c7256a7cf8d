#if STORAGE_SERVER
    internal import StorageCore
    internal import StorageSync

    /// The changes of a hub as server-sent events, each created when the previous one was consumed: a slow client
    /// receives fewer events with combined changes, and nothing is buffered for it.
    ///
    /// - `page` contains a ``HubPage``; its id is the position to resume from.
    /// - `problem` contains a ``HubProblem`` and is the last event: the token isn't accepted any more, or the store
    ///   can't be used.
    /// - `end` is the last event of a stream that doesn't follow, and of one that ends because the server shuts down.
    /// - A comment is sent if nothing has changed for some seconds.
    ///
    /// Source: WHATWG HTML, 9.2, "Server-sent events".
    struct ServerSentChanges: AsyncSequence, Sendable {
        /// The interval after which a comment is sent.
        static let silence = Duration.seconds(10)

        private let hub: StoreHub
        private let query: HubChangesQuery
        private let access: HubAccess
        private let token: HubToken
        private let tokens: HubTokenFile
        private let first: FirstElement<SyncPage>

        /// - Throws: The errors of ``StoreHub/pull(_:as:)`` for the first page.
        init(
            of hub: StoreHub, query: HubChangesQuery, request: HubRequest, tokens: HubTokenFile
        ) async throws {
            try await self.init(
                of: hub, query: query, access: request.access, token: request.token, tokens: tokens)
        }

        init(
            of hub: StoreHub, query: HubChangesQuery, access: HubAccess, token: HubToken, tokens: HubTokenFile
        ) async throws {
            self.hub = hub
            self.query = query
            self.tokens = tokens
            (self.access, self.token) = (access, token)
            var pull = query.pull
            pull.wait = .zero
            first = FirstElement(try await hub.pull(pull, as: access))
        }

        /// - Precondition: It is the only iterator.
        func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

        /// Whether the first page is still in memory.
        var hasFirstPage: Bool { first.isThere }

        struct Iterator: AsyncIteratorProtocol {
            private enum State {
                case begun
                case behind(Int64)
                case ended
            }

            private let stream: ServerSentChanges
            private var state = State.begun

            init(stream: ServerSentChanges) { self.stream = stream }

            mutating func next() async throws -> [UInt8]? {
                switch state {
                case .ended: return nil
                case .begun:
                    guard let page = stream.first.take() else { return nil }
                    state = .behind(page.end)
                    return stream.event(page)
                case .behind(let position):
                    do {
                        return try await next(behind: position)
                    } catch is CancellationError {
                        throw CancellationError()
                    } catch {
                        state = .ended
                        return ServerSentChanges.event("problem", HubProblem(error).json)
                    }
                }
            }

            private mutating func next(behind position: Int64) async throws -> [UInt8] {
                // A following stream resumes at another server, however far behind it is; one that doesn't follow still
                // gets everything.
                if stream.query.follows, stream.hub.isStopped {
                    state = .ended
                    return ServerSentChanges.event("end", Array("{}".utf8))
                }
                var pull = stream.query.pull
                (pull.line, pull.position) = (stream.hub.line, position)
                pull.wait = stream.query.follows ? ServerSentChanges.silence : .zero
                let page = try await stream.hub.pull(pull, as: stream.access)
                // The token may have been revoked during the wait.
                try await stream.tokens.check(stream.token)
                state = .behind(page.end)
                if !page.changes.isEmpty { return stream.event(page) }
                if stream.query.follows ? stream.hub.isStopped : page.end == position {
                    state = .ended
                    return ServerSentChanges.event("end", Array("{}".utf8))
                }
                // If nothing concerns the follower, the stream advances past it.
                return page.end > position ? stream.event(page) : Array(":\n\n".utf8)
            }
        }

        private func event(_ page: SyncPage) -> [UInt8] {
            Self.event(
                "page", HubPage(line: hub.line, page: page).json, id: ResumePoint(line: hub.line, position: page.end).id
            )
        }

        /// JSON is written without line breaks.
        static func event(_ name: String, _ json: [UInt8], id: String? = nil) -> [UInt8] {
            Array("event: \(name)\n".utf8) + (id.map { Array("id: \($0)\n".utf8) } ?? []) + Array("data: ".utf8) + json
                + Array("\n\n".utf8)
        }
    }
#endif
