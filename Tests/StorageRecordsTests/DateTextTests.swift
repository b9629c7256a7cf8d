import Foundation
import TestSupport
import Testing

@testable import StorageRecords

/// The text of a date: exact, short, in order, and as SQLite has it.
struct DateTextTests {
    @Test(
        "Texts are those of SQLite",
        arguments: [
            (0, "2001-01-01 00:00:00.000"), (-0.0, "2001-01-01 00:00:00.000"), (790_164_000, "2026-01-15 10:00:00.000"),
            (790_164_000.12, "2026-01-15 10:00:00.120"), (790_164_000.123, "2026-01-15 10:00:00.123"),
            (790_164_000.1234, "2026-01-15 10:00:00.1234"), (0.1, "2001-01-01 00:00:00.100"),
            (1e-5, "2001-01-01 00:00:00.00001"), (-1e-5, "2000-12-31 23:59:59.99999"),
            (-0.5, "2000-12-31 23:59:59.500"),
            (-1.5, "2000-12-31 23:59:58.500"), (1.0.nextUp, "2001-01-01 00:00:01.0000000000000002"),
            ((-1.0).nextDown, "2000-12-31 23:59:58.9999999999999998"), (-978_307_200, "1970-01-01 00:00:00.000"),
            (-63_145_526_400, "0000-01-01 00:00:00.000"), (-63_113_904_000, "0001-01-01 00:00:00.000"),
            (252_423_993_600.0.nextDown, "9999-12-31 23:59:59.99997"), (-26_438_486_400, "1163-03-15 00:00:00.000"),
        ])
    func textsAreSQLites(_ seconds: Double, _ text: String) {
        #expect(DateText.text(of: seconds) == text)
        #expect(DateText.seconds(text) == seconds)
    }

    /// All days of some years around those that have no leap day, and some of all others.
    @Test("Days follow each other")
    func consecutiveDays() {
        let days = Set(stride(from: -730_851, to: 2_921_574, by: 97)).union(-730_851 ... -729_000).union(
            -37_000 ... -36_000
        )
        .union(35_500...37_500)
        var previous = ""
        for day in days.sorted() {
            let seconds = Double(day) * 86_400
            let text = DateText.text(of: seconds) ?? ""
            if previous >= text || DateText.seconds(text) != seconds || !text.hasSuffix(" 00:00:00.000") {
                #expect(Bool(false), "\(previous) \(text)")
            }
            previous = text
        }
        for (first, day) in [(-36_832, "1900-02-28"), (-307, "2000-02-29"), (36_217, "2100-02-28")] {
            let texts = [0, 1].map { DateText.text(of: Double(first + $0) * 86_400)?.prefix(10) }
            #expect(texts == [day[...], "\(day.prefix(4))-03-01"])
        }
    }

    @Test("Texts round-trip and keep their order", arguments: testSeeds(1))
    func textsRoundTripInOrder(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var known: [(seconds: Double, text: String)] = []
        for _ in 0..<2_000 {
            for seconds in [
                Double.random(in: 7e8...9e8, using: &random),
                .random(in: -63_145_526_400..<252_423_993_600, using: &random),
                .random(in: -1...1, using: &random) * pow(2, .random(in: -1_070...37, using: &random)),
                Double(bitPattern: random.next()), pow(2, Double(random.below(43) - 5)).nextDown,
                Double.random(in: 7e11...8e11, using: &random).rounded() / 1_000,
            ] {
                guard let text = DateText.text(of: seconds) else {
                    #expect(!DateText.covers(seconds))
                    continue
                }
                if DateText.seconds(text) != seconds { #expect(DateText.seconds(text) == seconds, "\(seconds)") }
                let digits = text.utf8.dropFirst(20)
                if digits.count < 3 || (digits.count > 3 && digits.last == UInt8(ascii: "0")) {
                    #expect(Bool(false), "\(text) isn't the shortest")
                }
                known.append((seconds, text))
            }
        }
        known.sort { $0.seconds < $1.seconds }
        for (left, right) in zip(known, known.dropFirst()) where left.seconds < right.seconds {
            if !left.text.utf8.lexicographicallyPrecedes(right.text.utf8) {
                #expect(Bool(false), "\(left) \(right)")
            }
        }
    }

    /// Of any digits the nearest double, as Swift reads them without a date in front.
    @Test("Digits are rounded to the nearest", arguments: testSeeds(1))
    func rounding(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<4_000 {
            let whole = 1 + random.below(2_000_000_000)
            let digits = (0...random.below(24)).map { _ in String(random.below(10)) }.joined()
            guard let text = DateText.text(of: Double(whole)), let number = Double("\(whole).\(digits)") else {
                continue
            }
            let read = DateText.seconds(text.prefix(20) + digits)
            if read != number { #expect(read == number, "\(whole).\(digits)") }
        }
        // Half-way between two doubles: the even one.
        #expect(DateText.seconds("2026-01-15 10:00:00.000000059604644775390625") == 790_164_000)
        #expect(DateText.seconds("2026-01-15 10:00:00.000000178813934326171875") == 790_164_000.0.nextUp.nextUp)
    }

    @Test(
        "Other forms are read",
        arguments: [
            ("2026-01-15", 790_128_000), ("2026-01-15 10:00", 790_164_000), ("2026-01-15 10:00:00", 790_164_000),
            ("2026-01-15T10:00:00.5Z", 790_164_000.5), ("2026-01-15 12:30:00+02:30", 790_164_000),
            ("2026-01-15 09:00:00.25-01:00", 790_164_000.25), ("2024-02-29", 730_857_600),
        ])
    func otherForms(_ text: String, _ seconds: Double) {
        #expect(DateText.seconds(text) == seconds)
    }

    @Test(
        "What isn't a date isn't read",
        arguments: [
            "", "0", "2026", "2026-1-15", "2026-13-01", "2026-00-01", "2026-02-29", "2100-02-29", "2026-01-15 24:00:00",
            "2026-01-15 10:60", "2026-01-15 10:00:60", "2026-01-15 10:00:00.", "2026-01-15 10:00:00.x", "2026-01-15 10",
            "2026-01-15 10:00:00 ", "2026-01-15 10:00:00+2", "12026-01-15", "-026-01-15", "9999-12-31 23:59:59-01:00",
            "0000-01-01 00:00+00:01", "１２34-01-01",
        ])
    func malformedDates(_ text: String) {
        #expect(DateText.seconds(text) == nil)
    }

    @Test(
        "Dates without a year of four digits have no text",
        arguments: [.nan, .infinity, -.infinity, 252_423_993_600, (-63_145_526_400.0).nextDown, 1e300])
    func datesWithoutText(_ seconds: Double) {
        #expect(DateText.text(of: seconds) == nil)
    }
}
