#if STORAGE_HTTP
    internal import Foundation
    internal import NIOHTTP1
    internal import StorageSync

    /// A validator of an answer, and the text in which the store keeps it: a hash of the URL, which doesn't reveal its
    /// secrets, a space, and the value of the header field. It is ignored for another URL, as tags are unique within
    /// one resource only.
    ///
    /// Source: RFC 9110, section 8.8.
    struct HTTPValidator: Equatable {
        let text: String
        private let value: String

        /// The validator of an answer; nil if it has none.
        ///
        /// `Last-Modified` is used only if the answer is at least a second younger: the rows may change again within
        /// the same second (section 8.8.2.2).
        init?(of headers: HTTPHeaders, from url: String, now: Date) {
            if let tag = headers.first(name: "ETag"), Self.isTag(tag) {
                value = tag
            } else if let text = headers.first(name: "Last-Modified"), let date = headers.first(name: "Date") {
                let now = Int64(now.timeIntervalSince1970)
                guard let changed = HTTPDate.seconds(text, now: now), let answered = HTTPDate.seconds(date, now: now),
                    answered - changed >= 1
                else { return nil }
                value = text
            } else {
                return nil
            }
            text = "\(url.utf8.fnv1a) \(value)"
        }

        /// A stored validator; nil if it belongs to another URL.
        init?(_ text: String, for url: String) {
            let parts = text.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, parts[0] == url.utf8.fnv1a else { return nil }
            (self.text, value) = (text, String(parts[1]))
        }

        /// The header field of the conditional request.
        var condition: (name: String, value: String) {
            (Self.isTag(value) ? "If-None-Match" : "If-Modified-Since", value)
        }

        private static func isTag(_ value: String) -> Bool {
            let opaque = value.hasPrefix("W/") ? value.dropFirst(2) : Substring(value)
            return opaque.utf8.count >= 2 && opaque.first == "\"" && opaque.last == "\""
        }
    }
#endif
