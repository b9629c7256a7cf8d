#if STORAGE_HTTP
    internal import Foundation
    internal import NIOHTTP1
    internal import StorageSync

    extension RESTClient {
        /// The documents of a collection or query.
        struct Documents<T: Sendable>: Sendable {
            let values: [T]
            /// The validator of a conditional request; nil if there were several pages, each with its own tag.
            let validator: String?
        }

        private static let maximumPages = 10_000

        /// - Parameter validator: The previous answer's.
        /// - Returns: nil if nothing has changed since.
        func documents<T: DataSyncModelProtocol>(
            _ type: T.Type, in collection: String, items: [URLQueryItem] = [], validator: String? = nil
        ) async throws -> Documents<T>? {
            var request = Request(path: collection, items: items, validator: validator)
            var values: [T] = []
            var cycles = PageCycleDetector()
            var first: String?
            for page in 0..<Self.maximumPages {
                let (answer, target) = try await answer(to: request)
                guard answer.status.code != 304 else { return nil }
                values += try documents(type, in: answer.body, of: target)
                if page == 0, !answer.wasRedirected {
                    first = HTTPValidator(of: answer.headers, from: target.text, now: Date())?.text
                }
                guard let next = try next(behind: answer, of: target, request) else {
                    return Documents(values: values, validator: page == 0 ? first : nil)
                }
                // Pages in a cycle would be followed forever.
                guard !cycles.detectsCycle(at: next.items.isEmpty ? next.path : "\(next.items)") else {
                    throw badLink(target, "leads to a page that was fetched before")
                }
                request = next
            }
            throw HTTPRemoteError(
                .tooLarge, "\(HTTPTarget.shown(configuration.baseURL)) has more than \(Self.maximumPages) pages.",
                remedy: "Listen with a query, or ask for larger pages.")
        }

        private func documents<T: DataSyncModelProtocol>(
            _ type: T.Type, in body: Data, of target: HTTPTarget
        ) throws -> [T] {
            do {
                guard let field = configuration.itemsField else { return try DocumentJSON.value([T].self, of: body) }
                let items = try DocumentJSON.text(at: field, in: body)
                return try DocumentJSON.value([T].self, of: Data((items ?? "null").utf8))
            } catch {
                try Task.checkCancellation()
                throw undecodable(target, error)
            }
        }
    }
#endif
