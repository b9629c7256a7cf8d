#if STORAGE_HTTP
    internal import Foundation
    internal import NIOHTTP1
    internal import StorageSync

    /// Fetches the pages of a remote: the cursor of a page is its URL.
    struct HTTPPageFetch<Element: Sendable>: Sendable {
        let remote: HTTPRemote
        let decode: @Sendable (Data, JSONDecoder) throws -> HTTPPage<Element>

        /// - Throws: ``HTTPRemoteError``, before anything of the page was merged; `CancellationError`.
        func answer(to fetch: QueryFetch) async throws -> QueryFetchAnswer<Element> {
            guard let home = HTTPTarget(remote.url) else { throw HTTPRemoteError.invalidURL(remote) }
            let target = try fetch.cursor.map { try page($0, relativeTo: home, home: home) } ?? home
            let validator = fetch.validator.flatMap { HTTPValidator($0, for: home.text) }
            let answer = try await HTTPExchange(remote: remote, target: target, validator: validator).answer()
            switch answer.status.code {
            case 200, 203: break
            case 304 where validator != nil && !answer.wasRedirected: return .notModified
            default: throw HTTPRemoteError.status(remote, answer, now: Date())
            }
            let content = try decoded(answer.body)
            let next = try content.next ?? link(of: answer)
            guard let next else {
                // The validator of one of several pages would cover only that page, although it is stored for all.
                let isWhole = fetch.cursor == nil && !answer.wasRedirected
                let given = isWhole ? HTTPValidator(of: answer.headers, from: home.text, now: Date()) : nil
                return .rows(content.rows, validator: given?.text)
            }
            let following = try self.page(next, relativeTo: answer.target, home: home)
            guard following != target, following != answer.target else {
                throw HTTPRemoteError.badLink(remote, "leads to the page that it is on")
            }
            return .rows(content.rows, next: following.text)
        }

        private func decoded(_ body: Data) throws -> HTTPPage<Element> {
            do {
                return try decode(body, remote.makeDecoder())
            } catch {
                try Task.checkCancellation()
                throw HTTPRemoteError.undecodable(remote, error)
            }
        }

        private func link(of answer: HTTPAnswer) throws -> String? {
            do {
                return try LinkHeader.next(in: answer.headers["Link"])
            } catch {
                throw HTTPRemoteError.badLink(remote, "can't be read")
            }
        }

        /// A page, if the remote's header fields may be sent there.
        private func page(_ text: String, relativeTo base: HTTPTarget, home: HTTPTarget) throws -> HTTPTarget {
            guard let page = HTTPTarget(text, relativeTo: base) else {
                throw HTTPRemoteError.badLink(remote, "isn't an http or https URL without user and password")
            }
            guard page.origin == home.origin else {
                throw HTTPRemoteError.badLink(remote, "leads to another scheme, host or port")
            }
            return page
        }
    }
#endif
