#if STORAGE_HTTP
    public import Foundation
    public import StorageSync

    extension QuerySource where Element: Decodable {
        /// The source with a remote that answers a JSON array of rows.
        ///
        /// ```swift
        /// QuerySource(Task.all())
        ///     .remote(HTTPRemote("https://api.example.com/tasks"))
        ///     .cache(.cacheFirst(ttl: .hours(1)))
        /// ```
        ///
        /// - Parameters:
        ///   - remote: Where the rows come from, and within which limits.
        ///   - merge: What becomes of fetched rows, and of rows that the remote doesn't have.
        ///
        /// Errors are ``HTTPRemoteError``, as the `cause` of what those who show the source see.
        ///
        /// - Complexity: A page is held in memory as bytes and as rows; pages are fetched one after another.
        public func remote(_ remote: HTTPRemote, merge: QueryMergeStrategy<Element> = .replace) -> QuerySource<Element>
        {
            self.remote(remote, merge: merge) { body, decoder in
                HTTPPage(try decoder.decode([Element].self, from: body))
            }
        }
    }

    extension QuerySource {
        /// The source with a remote whose pages have a form of their own.
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
        ///   - remote: Where the rows come from, and within which limits.
        ///   - merge: What becomes of fetched rows, and of rows that the remote doesn't have.
        ///   - decode: Makes a page of a body. It gets the decoder that ``HTTPRemote/makeDecoder`` made, and needn't use
        ///     it. It runs off the main actor. What it throws is an ``HTTPRemoteError`` with `undecodable`; the text says
        ///     the place of a `DecodingError`, and of other errors the type only, since they may quote the body.
        public func remote(
            _ remote: HTTPRemote, merge: QueryMergeStrategy<Element> = .replace,
            decode: @escaping @Sendable (_ body: Data, _ decoder: JSONDecoder) throws -> HTTPPage<Element>
        ) -> QuerySource<Element> {
            let pages = HTTPPageFetch(remote: remote, decode: decode)
            return self.remote(QueryRefreshAction(merge: merge) { try await pages.answer(to: $0) })
        }
    }
#endif
