import TestSupport
import Testing

@testable import StorageKitTool

/// Keys of the bytes that terminals send.
@Suite struct KeyDecoderTests {
    private static let known: [(bytes: String, key: Key)] = [
        ("j", .character("j")), ("ü", .character("ü")), ("日", .character("日")), ("😀", .character("😀")),
        ("\u{1b}[A", .up), ("\u{1b}OB", .down), ("\u{1b}[1;5C", .right), ("\u{1b}[5~", .pageUp),
        ("\u{1b}[6;2~", .pageDown),
        ("\u{1b}[H", .home), ("\u{1b}OF", .end), ("\u{1b}[4~", .end), ("\u{1b}[3~", .delete), ("\u{1b}[Z", .backTab),
        ("\r", .enter), ("\n", .enter), ("\t", .tab), ("\u{7f}", .backspace), ("\u{3}", .control("c")),
        ("\u{1a}", .control("z")),
    ]

    @Test("Keys arrive whole however their bytes are divided")
    func dividedBytes() {
        let bytes = Self.known.flatMap { Array($0.bytes.utf8) }
        for size in [1, 2, 3, 5, 7, bytes.count] {
            var decoder = KeyDecoder()
            var keys: [Key] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                keys += decoder.add(bytes[start..<min(start + size, bytes.count)])
            }
            #expect(keys == Self.known.map(\.key), "pieces of \(size)")
            #expect(!decoder.isPending)
        }
    }

    @Test("Escape alone is a key once nothing follows")
    func loneEscape() {
        var decoder = KeyDecoder()
        #expect(decoder.add([0x1b]) == [])
        #expect(decoder.isPending)
        #expect(decoder.flush() == [.escape])
        #expect(decoder.add([0x1b, UInt8(ascii: "q")]) == [.escape, .character("q")])
        #expect(decoder.add([0x1b, 0x1b, UInt8(ascii: "["), UInt8(ascii: "A")]) == [.escape, .up])
    }

    @Test("Bytes that mean nothing are dropped", arguments: testSeeds(20))
    func randomBytes(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var decoder = KeyDecoder()
        for _ in 0..<200 {
            let start: [UInt8] = Bool.random(using: &random) ? [0x1b, UInt8(ascii: "[")] : []
            let bytes = (0..<Int.random(in: 1...20, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            _ = decoder.add(start + bytes)
            _ = decoder.flush()
            #expect(!decoder.isPending)
        }
        #expect(decoder.add(Array("j".utf8)) == [.character("j")])
    }
}
