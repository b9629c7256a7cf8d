#if STORAGE_HTTP
    internal import Foundation
    internal import NIOHTTP1
    internal import StorageSync

    /// What an answer can be recognised by, and the text by which the store remembers it: the hash of the URL, in which
    /// nobody reads its secrets, a space, and the value of the header field. With another URL it counts for nothing, as tags are
    /// unique within one resource only.
    ///
    /// Source: RFC 9110, section 8.8.
    struct HTTPValidator: Equatable {
        let text: String
        private let value: String

        /// The validator of an answer; nil where it has none.
        ///
        /// `Last-Modified` counts only where the answer is at least a second younger: in the same second the rows may
        /// change again without another time (section 8.8.2.2).
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

        /// The validator that was remembered; nil for that of another URL.
        init?(_ text: String, for url: String) {
            let parts = text.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, parts[0] == url.utf8.fnv1a else { return nil }
            (self.text, value) = (text, String(parts[1]))
        }

        /// The header field that asks whether it still holds.
        var condition: (name: String, value: String) {
            (Self.isTag(value) ? "If-None-Match" : "If-Modified-Since", value)
        }

        private static func isTag(_ value: String) -> Bool {
            let opaque = value.hasPrefix("W/") ? value.dropFirst(2) : Substring(value)
            return opaque.utf8.count >= 2 && opaque.first == "\"" && opaque.last == "\""
        }
    }
#endif
