#if STORAGE_HTTP
    internal import Foundation
    internal import NIOHTTP1
    internal import StorageSync

    /// Where the next page of a collection is, by ``RESTPagination``.
    extension RESTClient {
        /// The request of the next page; nil after the last one.
        func next(behind answer: HTTPAnswer, of target: HTTPTarget, _ request: Request) throws -> Request? {
            switch configuration.pagination {
            case .none: return nil
            case .link:
                do {
                    let link = try LinkHeader.next(in: answer.headers["Link"])
                    return try link.map { try whole($0, behind: answer.target) }
                } catch is LinkHeader.Malformed {
                    throw badLink(target, "can't be read")
                }
            case .url(let field):
                return try text(at: field, in: answer.body, of: target).map { try whole($0, behind: answer.target) }
            case .cursor(let field, let parameter):
                guard let cursor = try text(at: field, in: answer.body, of: target) else { return nil }
                var next = request
                next.validator = nil
                next.items.removeAll { $0.name == parameter }
                next.items.append(URLQueryItem(name: parameter, value: cursor))
                return next
            }
        }

        /// A page at a URL, if the remote's header fields may be sent there.
        private func whole(_ text: String, behind target: HTTPTarget) throws -> Request {
            guard let page = HTTPTarget(text, relativeTo: target) else {
                throw badLink(target, "isn't an http or https URL without user and password")
            }
            guard page.origin == HTTPTarget(configuration.baseURL)?.origin else {
                throw badLink(target, "leads to another scheme, host or port")
            }
            return Request(path: page.text, isWhole: true)
        }

        /// A text or number in a page; nil if there is none.
        private func text(at field: String, in body: Data, of target: HTTPTarget) throws -> String? {
            do {
                guard let json = try DocumentJSON.text(at: field, in: body) else { return nil }
                let text = json.hasPrefix("\"") ? try DocumentJSON.value(String.self, of: Data(json.utf8)) : json
                return text.isEmpty ? nil : text
            } catch {
                throw undecodable(target, error)
            }
        }
    }
#endif
