import Foundation
import PredicateTestSupport
import TestSupport
import Testing

@testable import StorageSync

/// JSON that somebody else has sent is taken as it is, or refused.
struct JSONReaderTests {
    private func text(_ json: String) throws -> String {
        var reader = try JSONReader(json.utf8)
        let text = try reader.text()
        try reader.finish()
        return text
    }

    @Test(
        "Values keep their spelling",
        arguments: [
            "0", "-0", "12", "1.0", "1.10", "1e400", "-1E-5", "123456789012345678901234567890", "\"\"", "\"a\\u00e9\"",
            "\"\\ud83d\\ude00\"", "\"\\u0000\"", "\"é\"", "true", "false", "null", "[]", "{}", "[1,[2,{\"a\":[]}]]",
        ])
    func valuesKeepTheirSpelling(json: String) throws {
        #expect(try text(json) == json)
        #expect(try text(" \n\t\r\(json) ") == json)
    }

    @Test("White space between tokens is removed")
    func whitespaceIsRemoved() throws {
        #expect(try text("{ \"a b\" : [ 1 ,\n2 ] , \"c\":{ } }") == "{\"a b\":[1,2],\"c\":{}}")
    }

    @Test(
        "Malformed JSON is refused",
        arguments: [
            "", " ", "tru", "nul", "True", "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x10", "NaN", "Infinity", "1 2",
            "[1,]", "[,1]",
            "[1 2]", "[", "]", "{", "}", "{a:1}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1 \"b\":2}", "{1:2}",
            "'a'",
            "\"a",
            "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u+123\"", "\"\\u-123\"", "\"a\nb\"", "\"\u{1}\"", "{\"a\":1}}",
            "[1]]",
            "//", "\u{feff}1",
        ])
    func malformedJSON(json: String) {
        #expect(throws: JSONReader.Malformed.self) { try text(json) }
        #expect(JSONReader.compact(json) == nil)
    }

    @Test(
        "Lone surrogates are refused",
        arguments: [
            "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800a\"", "\"\\ud800\\n\"", "\"\\ud800\\ud800\"", "\"\\ud800\\u0061\"",
            "[{\"\\udfff\":1}]",
        ])
    func loneSurrogates(json: String) {
        #expect(throws: JSONReader.Malformed.self) { try text(json) }
    }

    @Test(
        "Invalid UTF-8 is refused",
        arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82]] as [[UInt8]])
    func invalidUTF8(bytes: [UInt8]) {
        #expect(throws: JSONReader.Malformed.self) { _ = try JSONReader([0x22] + bytes + [0x22]) }
    }

    /// One spelling of a letter is the other to `String`, so a dictionary would keep one of them.
    @Test(
        "Duplicate keys are refused",
        arguments: [
            "{\"a\":1,\"a\":1}", "{\"a\":1,\"\\u0061\":2}", "{\"é\":1,\"e\\u0301\":2}", "[{\"b\":{\"a\":1,\"a\":2}}]",
        ])
    func duplicateKeys(json: String) {
        #expect(throws: JSONReader.Malformed.self) { try text(json) }
        #expect(throws: JSONReader.Malformed.self) {
            var reader = try JSONReader("{\"fields\":\(json)}".utf8)
            try reader.object { _, json in _ = try json.text() }
        }
    }

    @Test("Nesting has a limit")
    func nestingLimit() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try text(nested(510)) == nested(510))
        #expect(try text("[" + nested(509) + ",1]") == "[" + nested(509) + ",1]")
        #expect(throws: JSONReader.Malformed.self) { try text(nested(511)) }
        #expect(throws: JSONReader.Malformed.self) { try text(String(repeating: "[", count: 1_000_000)) }
        #expect(throws: JSONReader.Malformed.self) { try text(String(repeating: "{\"a\":", count: 1_000_000)) }
    }

    @Test("Escapes are decoded")
    func escapes() throws {
        var reader = try JSONReader(#"["\"\\\/\b\f\n\r\t","\u00e9\ud83d\ude00\u0301","é\u0041"]"#.utf8)
        var texts: [String] = []
        try reader.array { texts.append(try $0.string()) }
        #expect(
            texts.map { Array($0.unicodeScalars) }
                == ["\"\\/\u{8}\u{c}\n\r\t", "é😀\u{301}", "éA"].map { Array($0.unicodeScalars) })
    }

    @Test("Names can't contain NUL")
    func nulInNames() throws {
        var reader = try JSONReader(#""a\u0000b""#.utf8)
        #expect(throws: JSONReader.Malformed.self) { try reader.string() }
        #expect(throws: JSONReader.Malformed.self) { try HubFields(json: #"{"a\u0000":1}"#.utf8) }
    }

    @Test(
        "Numbers outside of the protocol are refused",
        arguments: [
            "-1", "1.0", "1e2", "9007199254740993", "9223372036854775808", "\"1\"", "null", "-",
            "99999999999999999999999",
        ])
    func malformedIntegers(json: String) throws {
        var reader = try JSONReader(json.utf8)
        #expect(throws: JSONReader.Malformed.self) { try reader.integer() }
    }

    @Test("The largest integer is one that all readers know")
    func largestInteger() throws {
        var reader = try JSONReader("[0,9007199254740992]".utf8)
        var numbers: [Int64] = []
        try reader.array { numbers.append(try $0.integer()) }
        #expect(numbers == [0, 1 << 53])
    }

    /// The encoder of the rest of the store has to give the same text, as fields are compared by it.
    @Test("Texts are written as the encoder writes them")
    func quotingMatchesEncoder() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        for scalar in (0...0x2FF).compactMap(Unicode.Scalar.init) + ["\u{2028}", "\u{FFFF}", "😀"] {
            let text = "a\(scalar)/b"
            #expect(JSONText.quoted(text) == String(decoding: try encoder.encode(text), as: UTF8.self))
        }
    }

    /// Whatever is cut or changed in a text, it is read or refused, and what is read is JSON to Foundation too.
    @Test("Damaged texts never trap")
    func damagedTextsNeverTrap() throws {
        let sample = Array(
            #"{"producer":"é\ud83d\ude00\n","epoch":3,"line":"00ff","writes":[{"fields":{"a":-1.5e3,"b":[true,null]}}]}"#
                .utf8)
        for seed in testSeeds(2_000) {
            var random = PredicateGenerator(seed: seed)
            var bytes = sample
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(sample.randomElement(using: &random) ?? 0, at: index)
                }
            }
            guard var reader = try? JSONReader(bytes), let text = try? reader.text(), (try? reader.finish()) != nil
            else { continue }
            let isJSON = (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil
            // A number beyond Double is JSON, which Foundation doesn't read.
            #expect(isJSON || text.contains("e"), "seed \(seed): \(text)")
        }
    }
}
