#if STORAGE_SERVER
    internal import StorageCore
    internal import StorageSync
    internal import Synchronization

    /// The changes of a hub as server-sent events, each made when the one before it was taken: a client that reads slowly gets
    /// fewer events with composed changes, and nothing is kept for it.
    ///
    /// - `page` has a ``HubPage``; its id is the place to resume from.
    /// - `problem` has a ``HubProblem`` and is the last one: the token isn't accepted any more, or the store can't be used.
    /// - `end` is the last one of a stream that doesn't follow, and of one that ends because the server shuts down.
    /// - A comment stands where nothing has changed for some seconds.
    ///
    /// Source: WHATWG HTML, 9.2, "Server-sent events".
    struct ChangeStream: AsyncSequence, Sendable {
        /// Where a stream goes on: the end of a page.
        struct ResumePoint: Equatable {
            let line: [UInt8]
            let position: Int64

            init(line: [UInt8], position: Int64) { (self.line, self.position) = (line, position) }

            /// From an event's id.
            init?(id: String) {
                let parts = id.split(separator: ":", omittingEmptySubsequences: false)
                guard parts.count == 2, let line = Hexadecimal.bytes(String(parts[0])),
                    line.count == HubPull.lineLength,
                    let position = Int64(parts[1]), (0...JSONReader.largestInteger).contains(position)
                else { return nil }
                self.init(line: line, position: position)
                // An id has one way to be written.
                guard self.id == id else { return nil }
            }

            var id: String { "\(Hexadecimal.text(line)):\(position)" }
        }

        /// After which a comment is sent.
        static let silence = Duration.seconds(10)

        private let hub: StoreHub
        private let query: HubChangesQuery
        private let access: HubAccess
        private let token: HubToken
        private let tokens: HubTokens
        /// Until it is sent: a stream lives long, and a first page is large.
        private let first: FirstPage

        /// - Throws: What ``StoreHub/pull(_:as:)`` throws for the first page.
        init(
            of hub: StoreHub, query: HubChangesQuery, request: HubRequest, tokens: HubTokens
        ) async throws {
            try await self.init(
                of: hub, query: query, access: request.access, token: request.token, tokens: tokens)
        }

        init(
            of hub: StoreHub, query: HubChangesQuery, access: HubAccess, token: HubToken, tokens: HubTokens
        ) async throws {
            self.hub = hub
            self.query = query
            self.tokens = tokens
            (self.access, self.token) = (access, token)
            var pull = query.pull
            pull.wait = .zero
            first = FirstPage(try await hub.pull(pull, as: access))
        }

        /// - Precondition: It is the only one.
        func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

        /// Isolation: `Sendable`, the page behind a mutex.
        private final class FirstPage: Sendable {
            private let page: Mutex<SyncPage?>

            init(_ page: SyncPage) { self.page = Mutex(page) }

            var isThere: Bool { page.withLock { $0 != nil } }

            func take() -> SyncPage? {
                page.withLock { page in
                    defer { page = nil }
                    return page
                }
            }
        }

        /// Whether the first page is still in memory.
        var hasFirstPage: Bool { first.isThere }

        struct Iterator: AsyncIteratorProtocol {
            private enum State {
                case begun
                case behind(Int64)
                case ended
            }

            private let stream: ChangeStream
            private var state = State.begun

            init(stream: ChangeStream) { self.stream = stream }

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
                        return ChangeStream.event("problem", HubProblem(error).json)
                    }
                }
            }

            private mutating func next(behind position: Int64) async throws -> [UInt8] {
                // One that follows goes on elsewhere, however far it is behind; one that doesn't has asked for all there is.
                if stream.query.follows, stream.hub.isStopped {
                    state = .ended
                    return ChangeStream.event("end", Array("{}".utf8))
                }
                var pull = stream.query.pull
                (pull.line, pull.position) = (stream.hub.line, position)
                pull.wait = stream.query.follows ? ChangeStream.silence : .zero
                let page = try await stream.hub.pull(pull, as: stream.access)
                // What it had to wait for isn't for a token that has ended meanwhile.
                try await stream.tokens.check(stream.token)
                state = .behind(page.end)
                if !page.changes.isEmpty { return stream.event(page) }
                if stream.query.follows ? stream.hub.isStopped : page.end == position {
                    state = .ended
                    return ChangeStream.event("end", Array("{}".utf8))
                }
                // Where nothing concerns the follower, it resumes behind that.
                return page.end > position ? stream.event(page) : Array(":\n\n".utf8)
            }
        }

        private func event(_ page: SyncPage) -> [UInt8] {
            Self.event(
                "page", HubPage(line: hub.line, page: page).json, id: ResumePoint(line: hub.line, position: page.end).id
            )
        }

        /// JSON has no line break in it.
        private static func event(_ name: String, _ json: [UInt8], id: String? = nil) -> [UInt8] {
            Array("event: \(name)\n".utf8) + (id.map { Array("id: \($0)\n".utf8) } ?? []) + Array("data: ".utf8) + json
                + Array("\n\n".utf8)
        }
    }
#endif
