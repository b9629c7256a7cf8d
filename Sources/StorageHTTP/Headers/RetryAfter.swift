#if STORAGE_HTTP
    internal import Foundation
    internal import NIOHTTP1

    enum RetryAfter {
        /// How long the server wants to be left alone; nil where it doesn't say, or says what nobody understands. Not
        /// negative, and a year at most.
        ///
        /// A date is taken against the answer's own `Date`, so that a wrong clock on either side makes no difference.
        ///
        /// Source: RFC 9110, section 10.2.3.
        static func wait(_ headers: HTTPHeaders, now: Date) -> Duration? {
            guard let text = headers.first(name: "Retry-After")?.trimmingCharacters(in: .whitespaces), !text.isEmpty
            else {
                return nil
            }
            if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
                // More digits than a number has are a long time, too.
                return .seconds(min(Int64(text) ?? .max, Self.year))
            }
            let system = Int64(now.timeIntervalSince1970)
            let reference = headers.first(name: "Date").flatMap { HTTPDate.seconds($0, now: system) } ?? system
            guard let time = HTTPDate.seconds(text, now: system) else { return nil }
            return .seconds(min(max(time - reference, 0), Self.year))
        }

        private static let year: Int64 = 366 * 86_400
    }
#endif
