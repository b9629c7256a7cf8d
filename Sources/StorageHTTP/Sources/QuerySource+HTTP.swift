#if STORAGE_HTTP
    public import Foundation
    public import StorageSync

    extension QuerySource where Element: Decodable {
        /// Returns the source with a remote that returns a JSON array of rows.
        ///
        /// ```swift
        /// QuerySource(Task.all())
        ///     .remote(HTTPRemote("https://api.example.com/tasks"))
        ///     .cache(.cacheFirst(ttl: .hours(1)))
        /// ```
        ///
        /// Errors are ``HTTPRemoteError``, as the `cause` of the error that users of the source see.
        ///
        /// - Parameters:
        ///   - remote: The remote and its limits.
        ///   - merge: How to merge fetched rows, and whether to delete rows that the remote doesn't have.
        /// - Complexity: A page is held in memory as bytes and as rows; pages are fetched one after another.
        public func remote(_ remote: HTTPRemote, merge: QueryMergeStrategy<Element> = .replace) -> QuerySource<Element>
        {
            self.remote(remote, merge: merge) { body, decoder in
                HTTPPage(try decoder.decode([Element].self, from: body))
            }
        }
    }

    extension QuerySource {
        /// Returns the source with a remote whose pages have a format of their own.
        ///
        /// ```swift
        /// struct Envelope: Decodable { let items: [Task]; let next: String? }
        ///
        /// QuerySource(Task.all()).remote(HTTPRemote("https://api.example.com/tasks")) { body, decoder in
        ///     let envelope = try decoder.decode(Envelope.self, from: body)
        ///     return HTTPPage(envelope.items, next: envelope.next)
        /// }
        /// ```
        ///
        /// - Parameters:
        ///   - remote: The remote and its limits.
        ///   - merge: How to merge fetched rows, and whether to delete rows that the remote doesn't have.
        ///   - decode: Creates a page from a body. It receives the decoder created by ``HTTPRemote/makeDecoder``, which
        ///     it may ignore. It runs off the main actor. Its errors become an ``HTTPRemoteError`` with `undecodable`;
        ///     the text contains the path of a `DecodingError`, and only the type of other errors, since they may quote
        ///     the body.
        public func remote(
            _ remote: HTTPRemote, merge: QueryMergeStrategy<Element> = .replace,
            decode: @escaping @Sendable (_ body: Data, _ decoder: JSONDecoder) throws -> HTTPPage<Element>
        ) -> QuerySource<Element> {
            let pages = HTTPPageFetch(remote: remote, decode: decode)
            return self.remote(QueryRefreshAction(merge: merge) { try await pages.answer(to: $0) })
        }
    }
#endif
