import Testing

@testable import StorageKitTool

@Suite struct JSONScannerTests {
    @Test(
        "Numbers keep their kind and value",
        arguments: [
            ("1", .integer(1)), ("0", .integer(0)), ("-7", .integer(-7)),
            ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
            ("1.0", .real(1.0.bitPattern)), ("1e3", .real(1000.0.bitPattern)), ("1E+3", .real(1000.0.bitPattern)),
            ("-0", .real((-0.0).bitPattern)), ("-0.0", .real((-0.0).bitPattern)), ("0.0", .real(0.0.bitPattern)),
            ("0.1", .real(0.1.bitPattern)), ("-122.673", .real((-122.673).bitPattern)),
            ("9007199254740993.0", .real(9007199254740992.0.bitPattern)),
            ("1.7976931348623157e308", .real(Double.greatestFiniteMagnitude.bitPattern)),
            ("5e-324", .real(1)), ("2.2250738585072011e-308", .real(0x000f_ffff_ffff_ffff)),
            ("0e-400", .real(0.0.bitPattern)), ("-0.000e-400", .real((-0.0).bitPattern)),
            ("0e999999999999", .real(0.0.bitPattern)),
            ("123456789012345678901234567890.0", .real(123456789012345678901234567890.0.bitPattern)),
        ] as [(String, OwnedValue)])
    func numbers(text: String, value: OwnedValue) throws {
        #expect(try scan(text) == value)
        #expect(try scan(" \(text) ") == value)
    }

    @Test(
        "Numbers that aren't JSON or don't fit are refused",
        arguments: [
            "9223372036854775808", "-9223372036854775809", "99999999999999999999999999", "18446744073709551616",
            "1e309",
            "-1e309", "1e-400", "-1e-400", "123456789012345678901234567890e-400", "2e-324",
            "1e99999999999999999999", "01", "-01", "00", "1.", ".5", "-", "+1", "1e", "1e+", "0x10", "1_000", "NaN",
            "Infinity",
            "-Infinity", "1,0", "1 2",
        ])
    func malformedNumbers(text: String) {
        #expect(refusal(text) != nil)
        #expect(refusal("[\(text)]") != nil || text == "1,0")
    }

    @Test(
        "Text is decoded",
        arguments: [
            (#""""#, ""), (#""abc""#, "abc"), (#""a\n\t\r\b\f\"\\\/z""#, "a\n\t\r\u{8}\u{c}\"\\/z"),
            (#""\u00e9\u20AC\ud83d\ude00""#, "é€😀"),
            (#""é€😀 plain and longer than eight bytes""#, "é€😀 plain and longer than eight bytes"),
            ("\"\u{7f}\u{80}\u{2028}\u{10ffff}\"", "\u{7f}\u{80}\u{2028}\u{10ffff}"),
            (#""\u0001\uffff""#, "\u{1}\u{ffff}"),
            (#""12345678\u00e9é12345678""#, "12345678éé12345678"),
        ] as [(String, String)])
    func textEscapes(source: String, text: String) throws {
        #expect(try scan(source) == .text(text))
    }

    @Test(
        "Faults are named with their location",
        arguments: [
            ("\"a\u{0}b\"", 2), ("\"a\nb\"", 2), ("\"12345678\u{1f}\"", 9), (#""a\u0000""#, 2), (#""\ud800""#, 1),
            (#""\udc00x""#, 1),
            (#""\ud800\u0041""#, 1), (#""\ud83d\n""#, 1), (#""\x""#, 1), (#""\u12g4""#, 5), (#""abc"#, 4),
            (#""abc\"#, 5), (#""\u12"#, 5),
            (#"{"a":1,"a":2}"#, 7), (#"{"a":1,"\u0061":2}"#, 7), (#"[{"x":{"b":1,"c":2,"b":3}}]"#, 19),
            (#"{"a":1}x"#, 7),
            (#"{"a":1,}"#, 7), (#"{"a" 1}"#, 5), (#"{a:1}"#, 1), (#"[1,]"#, 3), (#"[1 2]"#, 3), (#"[1"#, 2),
            (#"{"a":"#, 5), ("", 0), ("   ", 3),
            ("nul", 0), ("truex", 4), ("[tru]", 1), ("'a'", 0), ("{,}", 1), ("[,1]", 1), ("]", 0), ("[}", 1),
            ("{\"a\":1]", 6), ("[1}", 2),
        ] as [(String, Int)])
    func locationOfFaults(source: String, offset: Int) throws {
        let error = try #require(refusal(source))
        #expect(error.offset == offset, "\(error)")
        #expect(!error.remedy.isEmpty)
        #expect(error.description.hasPrefix("byte \(offset + 1): "))
    }

    @Test(
        "Text that isn't UTF-8 is refused",
        arguments: [
            [0x80], [0xc0, 0xaf], [0xc1, 0xbf], [0xe0, 0x80, 0xaf], [0xed, 0xa0, 0x80], [0xf0, 0x80, 0x80, 0x80],
            [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xff], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98],
            [0xc3, 0x28],
            [0xe2, 0x28, 0xa1], [0xf0, 0x9f, 0x28, 0x80],
        ] as [[UInt8]])
    func invalidUTF8(bytes: [UInt8]) {
        for prefix in ["", "a", "1234567", "12345678", #"\n"#] {
            let quote = [UInt8(ascii: "\"")]
            #expect(throws: InputError.self) { try scan(quote + Array(prefix.utf8) + bytes + quote) }
            #expect(throws: InputError.self) { try scan(quote + Array(prefix.utf8) + bytes) }
        }
    }

    @Test("Every scalar is read")
    func everyScalar() throws {
        for block in 0...0x10ff as ClosedRange<UInt32> {
            let scalars = (block << 8..<(block + 1) << 8).compactMap { Unicode.Scalar($0) }
            let text = String(String.UnicodeScalarView(scalars.filter { $0.value >= 0x20 && $0 != "\"" && $0 != "\\" }))
            #expect(try scan("\"\(text)\"") == .text(text), "block \(block)")
        }
    }

    @Test(
        "Containers are their minified source",
        arguments: [
            ("[]", "[]"), (" [ ] ", "[]"), ("{}", "{}"), ("{ }", "{}"), ("[1, 2,\t3]", "[1,2,3]"),
            (#"{ "a b" : [ 1 , "x y\" z" ] , "c" : null }"#, #"{"a b":[1,"x y\" z"],"c":null}"#),
            (#"[1.50,"\u00e9",1e2]"#, #"[1.50,"\u00e9",1e2]"#), (#"[ "\\" , " " ]"#, #"["\\"," "]"#),
            (#"[{"a":1},{"a":1}]"#, #"[{"a":1},{"a":1}]"#), (#"{"a":{"a":{"a":1}}}"#, #"{"a":{"a":{"a":1}}}"#),
        ])
    func containers(source: String, minified: String) throws {
        #expect(try scan(source) == .json(minified))
    }

    @Test("Markers become values, near misses stay JSON")
    func markers() throws {
        #expect(try scan(#"{"$blob":""}"#) == .blob([]))
        #expect(try scan(#"{"$blob":"AAEC/w=="}"#) == .blob([0, 1, 2, 255]))
        #expect(try scan(#" { "$blob" : "AAECAwQF" } "#) == .blob([0, 1, 2, 3, 4, 5]))
        #expect(try scan(#"{"$real":"Infinity"}"#) == .real(Double.infinity.bitPattern))
        #expect(try scan(#"{"$real":"-Infinity"}"#) == .real((-Double.infinity).bitPattern))
        let others = [
            #"{"$blob":"AAEC/x=="}"#, #"{"$blob":"AAE"}"#, #"{"$blob":"A==="}"#, #"{"$blob":"AA=A"}"#,
            #"{"$blob":"AA==AAAA"}"#,
            #"{"$blob":1}"#, #"{"$blob":"AAAA","x":1}"#, #"{"$blob":"AAAA","x":"AA"}"#, #"{"$real":"NaN"}"#,
            #"{"$real":1}"#,
            #"{"$blob":["AAAA"]}"#, #"{"$":"aaaaaaaaaaa"}"#,
        ]
        for source in others { #expect(try scan(source) == .json(source)) }
    }

    @Test("Depth is bounded")
    func depthLimit() throws {
        let deepest = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(try scan(deepest) == .json(deepest))
        #expect(refusal("[" + deepest + "]")?.offset == 64)
        #expect(refusal(String(repeating: "[", count: 1_000_000)) != nil)
        #expect(refusal(String(repeating: #"{"a":"#, count: 100_000)) != nil)
    }

    @Test("Many keys are checked in linear time")
    func manyKeysInLinearTime() throws {
        let many = (0..<200_000).map { "\"key\($0)\":1" }.joined(separator: ",")
        #expect(try scan("{\(many)}") == .json("{\(many)}"))
        #expect(refusal("{\(many),\"key77\":2}")?.offset == many.utf8.count + 2)
    }

    /// Slices of a line must survive whatever else is read from that line.
    @Test("Slices stay valid until the next line")
    func slicesStayValid() throws {
        let row = (0..<500).map { #""k\u00e9\#($0)": [ "v\n\#($0)", { "$blob" : "AAAA" } ]"# }.joined(separator: ", ")
        let line = Array("{\(row)}".utf8)
        var scanner = JSONScanner()
        try line.withUnsafeBytes { line in
            for _ in 0..<3 {
                scanner.start(line)
                var columns: [(ByteSlice, HistoryValue)] = []
                var scope = try scanner.beginObject()
                while let key = try scanner.nextKey(&scope) { columns.append((key, try scanner.value())) }
                try scanner.finish()
                for (index, column) in columns.enumerated() {
                    #expect(column.0.string == "ké\(index)")
                    #expect(OwnedValue(column.1) == .json(#"["v\n\#(index)",{"$blob":"AAAA"}]"#))
                }
            }
        }
    }
}
