import Foundation
import TestSupport
import Testing

@testable import StorageKitTool

@Suite struct TimestampTests {
    @Test(
        "RFC 3339 is read",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59.999999Z", -1), ("1969-12-31T23:59:59.9999999Z", -1),
            ("2024-02-29T12:00:00Z", 1_709_208_000_000_000), ("2024-05-01T10:00:00.123456Z", 1_714_557_600_123_456),
            ("2024-05-01t10:00:00.1z", 1_714_557_600_100_000), ("2024-05-01 12:00:00+02:00", 1_714_557_600_000_000),
            ("2024-05-01T04:30:00.123456789-05:30", 1_714_557_600_123_456),
            ("2024-05-01T10:00:00-00:00", 1_714_557_600_000_000),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000_000), ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
        ] as [(String, Int64)])
    func readsRFC3339(text: String, microseconds: Int64) throws {
        #expect(try Timestamp.parse(text) == microseconds)
    }

    @Test(
        "The rest is refused with a reason",
        arguments: [
            ("", TimestampProblem.notRFC3339), ("2024-05-01", .notRFC3339), ("2024-05-01T10:00:00", .notRFC3339),
            ("2024-05-01T10:00Z", .notRFC3339), ("2024-05-01T10:00:00.Z", .notRFC3339),
            ("2024-05-01T10:00:00.5", .notRFC3339),
            ("2024-05-01T10:00:00+02", .notRFC3339), ("2024-05-01T10:00:00+0200", .notRFC3339),
            ("2024-05-01T10:00:00Zx", .notRFC3339),
            ("2024-05-01T10:00:00+02:000", .notRFC3339), ("24-05-01T10:00:00.000Z", .notRFC3339),
            ("2024-05-01T10:00:00,5Z", .notRFC3339),
            ("２024-05-01T10:00:00Z", .notRFC3339), ("2024-+5-01T10:00:00Z", .notRFC3339),
            (" 2024-05-01T10:00:00Z", .notRFC3339),
            ("2023-02-29T00:00:00Z", .noSuchDay), ("1900-02-29T00:00:00Z", .noSuchDay),
            ("2024-13-01T00:00:00Z", .noSuchDay),
            ("2024-00-01T00:00:00Z", .noSuchDay), ("2024-04-31T00:00:00Z", .noSuchDay),
            ("2024-04-00T00:00:00Z", .noSuchDay),
            ("2024-04-01T24:00:00Z", .noSuchDay), ("2024-04-01T00:60:00Z", .noSuchDay),
            ("2024-04-01T00:00:61Z", .noSuchDay),
            ("2024-04-01T00:00:00+24:00", .noSuchDay), ("2016-12-31T23:59:60Z", .leapSecond),
            ("0000-12-31T00:00:00Z", .outOfRange),
            ("0001-01-01T00:00:00+00:01", .outOfRange), ("9999-12-31T23:59:59-00:01", .outOfRange),
            ("0000-12-31T23:59:59-01:00", .outOfRange),
        ] as [(String, TimestampProblem)])
    func otherFormats(text: String, problem: TimestampProblem) {
        #expect(throws: problem) { try Timestamp.parse(text) }
        #expect(!problem.remedy.isEmpty)
    }

    @Test(
        "The canonical form is written",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59.999999Z"), (120_000, "1970-01-01T00:00:00.120Z"),
            (120_001, "1970-01-01T00:00:00.120001Z"), (1, "1970-01-01T00:00:00.000001Z"),
            (1_709_208_000_000_000, "2024-02-29T12:00:00Z"),
            (Int64.min, "0001-01-01T00:00:00Z"), (Int64.max, "9999-12-31T23:59:59.999999Z"),
        ] as [(Int64, String)])
    func canonicalForm(microseconds: Int64, text: String) {
        #expect(Timestamp.text(microseconds) == text)
    }

    @Test("The days of ten thousand years are counted")
    func tenThousandYears() {
        var expected = Timestamp.range.lowerBound / Timestamp.perDay
        for year in 1...9999 as ClosedRange<Int64> {
            for month in 1...12 as ClosedRange<Int64> {
                let last = Timestamp.days(inMonth: month, of: year)
                for (day, number) in [(1, expected), (last, expected + last - 1)] {
                    guard Timestamp.daysSince1970(year: year, month: month, day: day) == number,
                        Timestamp.date(ofDay: number) == (year, month, day)
                    else {
                        Issue.record("\(year)-\(month)-\(day)")
                        return
                    }
                }
                expected += last
            }
        }
        #expect(expected * Timestamp.perDay == Timestamp.range.upperBound + 1)
    }

    @Test("Random instants round-trip", arguments: testSeeds(1))
    func randomInstants(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        for _ in 0..<50_000 {
            var instant = Int64.random(in: Timestamp.range, using: &generator)
            if Bool.random(using: &generator) { instant -= Timestamp.floorDivide(instant, 1000).remainder }
            let text = Timestamp.text(instant)
            #expect(try Timestamp.parse(text) == instant, "seed \(seed): \(text)")
            // Any offset names the same instant, as long as the local year has four digits.
            let minutes = Int64.random(in: -1439...1439, using: &generator)
            let local = instant + minutes * 60 * Timestamp.perSecond
            guard Timestamp.range.contains(local) else { continue }
            let offset = "\(minutes < 0 ? "-" : "+")\(twoDigits(abs(minutes) / 60)):\(twoDigits(abs(minutes) % 60))"
            #expect(
                try Timestamp.parse(Timestamp.text(local).dropLast() + offset) == instant,
                "seed \(seed): \(text) \(offset)")
        }
    }

    @Test("It agrees with Foundation")
    func agreesWithFoundation() throws {
        var generator = SplitMix64(seed: 3)
        for _ in 0..<500 {
            // Foundation's calendar changes to the Julian one before 1582.
            let seconds = Int64.random(
                in: -12_000_000_000...Timestamp.range.upperBound / Timestamp.perSecond, using: &generator)
            let expected = Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
            #expect(Timestamp.text(seconds * Timestamp.perSecond) == expected)
        }
    }

    private func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
