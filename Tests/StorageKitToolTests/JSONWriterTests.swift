import Foundation
import StorageCore
import TestSupport
import Testing

@testable import StorageKitTool

@Suite struct JSONWriterTests {
    private func written(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("Commas are where they belong")
    func commas() {
        let text = written { writer in
            for _ in 0..<2 {
                writer.beginObject()
                writer.key("v")
                writer.integer(1)
                writer.key("a")
                writer.beginArray()
                writer.null()
                writer.beginObject()
                writer.endObject()
                writer.beginArray()
                writer.endArray()
                writer.bool(true)
                writer.endArray()
                writer.key("j")
                writer.raw("[1]")
                writer.key("t")
                writer.time(0)
                writer.endObject()
                writer.endLine()
            }
        }
        let line = #"{"v":1,"a":[null,{},[],true],"j":[1],"t":"1970-01-01T00:00:00Z"}"# + "\n"
        #expect(text == line + line)
    }

    @Test(
        "Values are written",
        arguments: [
            (StorageValue.null, "null"), (.integer(0), "0"), (.integer(.min), "-9223372036854775808"),
            (.integer(.max), "9223372036854775807"), (.integer(-10), "-10"), (.real(1), "1.0"), (.real(-0.0), "-0.0"),
            (.real(0.1), "0.1"), (.real(1e16), "1e+16"), (.real(.leastNonzeroMagnitude), "5e-324"),
            (.real(.infinity), #"{"$real":"Infinity"}"#),
            (.real(-.infinity), #"{"$real":"-Infinity"}"#), (.real(.nan), "null"), (.blob(Data()), #"{"$blob":""}"#),
            (.blob(Data([0, 1, 2, 255])), #"{"$blob":"AAEC/w=="}"#), (.text(""), #""""#),
            (.text("a\"b\\c/\u{8}\u{c}\n\r\t\u{0}\u{1f}\u{7f}é😀"), #""a\"b\\c/\b\f\n\r\t\u0000\u001f"# + "\u{7f}é😀\""),
            (.text("12345678\n12345678\""), #""12345678\n12345678\"""#),
        ] as [(StorageValue, String)])
    func values(value: StorageValue, text: String) {
        #expect(written { $0.value(value) } == text)
    }

    @Test("Random values round-trip", arguments: testSeeds(1))
    func randomValues(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        for _ in 0..<20_000 {
            var writer = JSONWriter()
            let expected: OwnedValue
            switch Int.random(in: 0..<4, using: &generator) {
            case 0:
                let value = Int64(bitPattern: generator.next() >> UInt64.random(in: 0...63, using: &generator))
                writer.integer(value)
                expected = .integer(value)
            case 1:
                let value = Double(bitPattern: generator.next())
                guard !value.isNaN else { continue }
                writer.real(value)
                expected = .real(value.bitPattern)
            case 2:
                let value = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                    UInt8.random(in: .min ... .max, using: &generator)
                }
                value.withUnsafeBytes { writer.blob($0) }
                expected = .blob(value)
            default:
                let scalars = (0..<Int.random(in: 0...30, using: &generator)).compactMap { _ in
                    Unicode.Scalar(
                        UInt32.random(in: 1...(Bool.random(using: &generator) ? 0x7f : 0x10ffff), using: &generator))
                }
                let value = String(String.UnicodeScalarView(scalars))
                writer.text(value)
                expected = .text(value)
            }
            #expect(
                try scan(writer.bytes) == expected, "seed \(seed): \(String(decoding: writer.bytes, as: UTF8.self))")
        }
    }
}
