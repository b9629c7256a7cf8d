#if STORAGE_HTTP
    internal import Foundation
    internal import NIOHTTP1

    enum RetryAfter {
        /// The delay requested by the server; nil if there is none, or it is invalid. Not negative, and at most a year.
        ///
        /// A date is compared with the answer's own `Date`, so that a wrong clock on either side makes no difference.
        ///
        /// Source: RFC 9110, section 10.2.3.
        static func wait(_ headers: HTTPHeaders, now: Date) -> Duration? {
            guard let text = headers.first(name: "Retry-After")?.trimmingCharacters(in: .whitespaces), !text.isEmpty
            else {
                return nil
            }
            if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
                // A number that overflows is a long time, too.
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
