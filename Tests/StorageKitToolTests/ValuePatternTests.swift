import Foundation
import TestSupport
import Testing

@testable import StorageKitTool
// Swift Testing has a type of this name too.
@testable import enum StorageKitTool.ExitStatus

@Suite struct ValuePatternTests {
    /// Two letters only, so that beginnings of the pattern are everywhere.
    @Test("Text is found wherever it is")
    func searchingText() throws {
        var random = SplitMix64(seed: 11)
        for _ in 0..<300 {
            let letters = { (count: Int) in (0..<count).map { _ in UInt8(ascii: "a") + UInt8(random.next() % 2) } }
            let pattern = letters(1 + Int(random.next() % 4))
            let value = letters(Int(random.next() % 10))
            let isThere = (0...max(value.count - pattern.count, 0)).contains {
                value.dropFirst($0).starts(with: pattern)
            }
            let text = String(decoding: pattern, as: UTF8.self)
            for isExpression in [false, true] {
                let found = try ValuePattern(text, isExpression: isExpression, ignoresCase: false)
                #expect(value.withUnsafeBytes { found.matches($0) } == isThere, "\(text) in \(value)")
            }
        }
    }

    @Test("Bytes that aren't text are searched as they are")
    func searchingOtherBytes() throws {
        let pattern = try ValuePattern("bc", isExpression: false, ignoresCase: false)
        let value: [UInt8] = [0xFF, 0x00, 0x62, 0x63, 0xFF]
        #expect(value.withUnsafeBytes { pattern.matches($0) })
        let expression = try ValuePattern("bc", isExpression: true, ignoresCase: false)
        #expect(!value.withUnsafeBytes { expression.matches($0) })
        #expect([UInt8]().withUnsafeBytes { !pattern.matches($0) })
    }

    @Test("Case and expressions")
    func caseAndExpressions() throws {
        #expect(try ValuePattern("ZOË", isExpression: false, ignoresCase: true).matches("die zoë"))
        #expect(try !ValuePattern("a.c", isExpression: false, ignoresCase: true).matches("abc"))
        #expect(try ValuePattern("^b", isExpression: true, ignoresCase: false).matches("a\nb"))
        let error = #expect(throws: CommandError.self) {
            try ValuePattern("a**(", isExpression: true, ignoresCase: false)
        }
        #expect(error?.status == ExitStatus.usage)
        // Deep nesting is refused or read, but never the end of the process.
        let deep = String(repeating: "(", count: 5_000) + String(repeating: ")", count: 5_000)
        _ = try? ValuePattern(deep, isExpression: true, ignoresCase: false).matches("a")
    }

    @Test("Numbers are searched only by patterns that can match them")
    func searchingNumbers() throws {
        for (text, can) in [("42", true), ("1.5e", true), ("rue", true), ("Infinity", true), ("zoo", false)] {
            #expect(
                try ValuePattern(text, isExpression: false, ignoresCase: false).canMatchNumbers == can, "\(text)")
        }
    }
}
