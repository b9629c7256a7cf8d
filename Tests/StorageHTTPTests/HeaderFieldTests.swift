#if STORAGE_HTTP
    import Foundation
    import NIOHTTP1
    import Testing

    @testable import StorageHTTP

    /// How header fields are read.
    @Suite struct HeaderFieldTests {
        private static let now: Int64 = 1_704_067_200  // 2024-01-01

        @Test(
            "The three forms of a date are read",
            arguments: [
                "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            ])
        func dateForms(text: String) {
            #expect(HTTPDate.seconds(text, now: Self.now) == 784_111_777)
        }

        @Test("Dates are those of the calendar")
        func datesMatchCalendar() {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(secondsFromGMT: 0)
            formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
            // A prime number of seconds, so that all months, days and hours come, until after 2200.
            for seconds in stride(from: Int64(0), to: 7_300_000_000, by: 1_234_577) {
                let text = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
                #expect(HTTPDate.seconds(text, now: Self.now) == seconds, "\(text)")
            }
            #expect(HTTPDate.seconds("Thu, 29 Feb 2024 00:00:00 GMT", now: 0) == 1_709_164_800)
            #expect(HTTPDate.seconds("Thu, 29 Feb 2024 23:59:60 GMT", now: 0) == 1_709_251_200)
        }

        @Test("Years of two digits are at most fifty years ahead")
        func twoDigitYears() {
            func year(_ digits: Int, now: Int64) -> Int? {
                HTTPDate.seconds("Sunday, 15-Jun-\(digits) 00:00:00 GMT", now: now).map {
                    Calendar(identifier: .gregorian).component(.year, from: Date(timeIntervalSince1970: Double($0)))
                }
            }
            #expect(year(73, now: Self.now) == 2073)
            #expect(year(75, now: Self.now) == 1975)
            #expect(year(99, now: Self.now) == 1999)
            let endOfCentury: Int64 = 4_070_908_800  // 2099-01-01
            #expect(year(12, now: endOfCentury) == 2112)
            #expect(year(60, now: endOfCentury) == 2060)
        }

        @Test(
            "What isn't a time isn't a delay",
            arguments: [
                "", "soon", "-1", "1.5", "0x10", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
                "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 94 08:49:37 GMT",
                "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
                "Sun, 06 Nov 1994 08:49 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT",
            ])
        func malformedTimes(text: String) {
            let headers: HTTPHeaders = ["Retry-After": text]
            #expect(RetryAfter.wait(headers, now: Date(timeIntervalSince1970: 0)) == nil)
        }

        @Test("Delays are neither negative nor endless")
        func boundedDelays() {
            func wait(_ text: String, date: String? = nil) -> Duration? {
                var headers: HTTPHeaders = ["Retry-After": text]
                if let date { headers.add(name: "Date", value: date) }
                return RetryAfter.wait(headers, now: Date(timeIntervalSince1970: 784_111_777 - 30))
            }
            #expect(wait("0") == .zero)
            #expect(wait(" 120 ") == .seconds(120))
            #expect(wait("99999999999999999999999") == .seconds(366 * 86_400))
            #expect(wait("Sun, 06 Nov 1994 08:49:37 GMT") == .seconds(30))
            #expect(wait("Sun, 06 Nov 1994 08:00:00 GMT") == .zero)
            #expect(wait("Sun, 06 Nov 9994 08:00:00 GMT") == .seconds(366 * 86_400))
            // The server's clock is the one that counts for the server's dates.
            #expect(wait("Sun, 06 Nov 1994 08:49:37 GMT", date: "Sun, 06 Nov 1994 08:49:30 GMT") == .seconds(7))
        }

        @Test(
            "The first next link is found",
            arguments: [
                (["</2>; rel=next"], "/2"), (["</2>;rel=\"next\""], "/2"), (["</2> ; REL = NEXT"], "/2"),
                (["</1>; rel=prev, </3>; rel=\"last next\""], "/3"), (["</1>; rel=prev", "</3>; rel=next"], "/3"),
                (["</a,b;c>; title=\"x, <y>; rel=next \\\" \"; rel=next"], "/a,b;c"), ([", ,</2>; rel=next, "], "/2"),
                (["</2>; title*=UTF-8''n%C3%A4chste; rel=next; crossorigin"], "/2"),
                (["</2>; rel=next, </3>; rel=next"], "/2"),
                (["</1>; rel=prev; rel=next"], nil), (["</1>; anchor=\"/other\"; rel=next"], nil),
                (["</1>; rel=nextish"], nil),
                (["</1>"], nil), ([""], nil), ([], nil),
            ] as [([String], String?)])
        func firstNextLink(fields: [String], target: String?) throws {
            #expect(try LinkHeader.next(in: fields) == target)
        }

        @Test(
            "A malformed list of links is an error",
            arguments: [
                "next", "<", "</2", "</2>; rel=\"next", "</2>; rel=\"next\\", "</1>; rel=next, x", "</2> x",
                "</2>; a b=c",
            ])
        func malformedLinks(field: String) {
            #expect(throws: LinkHeader.Malformed.self) { try LinkHeader.next(in: [field]) }
        }
    }
#endif
