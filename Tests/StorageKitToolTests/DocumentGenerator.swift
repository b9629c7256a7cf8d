import TestSupport

/// Random JSON documents that keep our rules and use every freedom that these leave.
enum DocumentGenerator {
    static func document(using generator: inout SplitMix64) -> String {
        space(&generator) + value(depth: 0, &generator) + space(&generator)
    }

    /// Changes, removes, inserts or repeats a few bytes.
    static func damage(_ bytes: inout [UInt8], using generator: inout SplitMix64) {
        guard !bytes.isEmpty else { return }
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
        case 1: bytes.remove(at: index)
        case 2: bytes.insert(Array(#"{}[]",:\u0e-.1 "#.utf8).randomElement(using: &generator) ?? 0, at: index)
        case 3: bytes.removeLast(bytes.count - index)
        case 4: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        default: bytes.insert(contentsOf: bytes[index..<min(index + 9, bytes.count)], at: index)
        }
    }

    private static func value(depth: Int, _ generator: inout SplitMix64) -> String {
        switch Int.random(in: 0..<(depth > 5 ? 6 : 10), using: &generator) {
        case 0: return ["null", "true", "false"].randomElement(using: &generator) ?? "null"
        case 1: return "\(Int64(bitPattern: generator.next() >> UInt64.random(in: 0...63, using: &generator)))"
        case 2: return real(&generator)
        case 3...5: return text(&generator)
        case 6, 7:
            let items = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                space(&generator) + value(depth: depth + 1, &generator) + space(&generator)
            }
            return "[" + (items.isEmpty ? space(&generator) : items.joined(separator: ",")) + "]"
        default:
            let members = (0..<Int.random(in: 0...6, using: &generator)).map { index in
                let key = text(&generator).dropLast() + "\(index)\""
                return space(&generator) + key + space(&generator) + ":" + space(&generator)
                    + value(depth: depth + 1, &generator) + space(&generator)
            }
            return "{" + (members.isEmpty ? space(&generator) : members.joined(separator: ",")) + "}"
        }
    }

    private static func real(_ generator: inout SplitMix64) -> String {
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: "\(Double(Int.random(in: -1_000_000...1_000_000, using: &generator)) / 1000)"
        case 1: "\(Int.random(in: -9...9, using: &generator))e\(Int.random(in: -30...30, using: &generator))"
        default: "\(Double.random(in: -1...1, using: &generator))"
        }
    }

    private static func text(_ generator: inout SplitMix64) -> String {
        var output = "\""
        for _ in 0..<Int.random(in: 0...20, using: &generator) {
            switch Int.random(in: 0..<8, using: &generator) {
            case 0:
                output +=
                    [#"\n"#, #"\\"#, #"\""#, #"\/"#, #"\t"#, #"\b"#, #"\f"#, #"\r"#].randomElement(using: &generator)
                    ?? ""
            case 1:
                output += [#"\u00e9"#, #"\u20AC"#, #"\ud83d\ude00"#, #"\u0001"#].randomElement(using: &generator) ?? ""
            case 2: output += ["é", "漢", "😀", "\u{7f}", "e\u{301}"].randomElement(using: &generator) ?? ""
            default: output += ["a", "Z", "0", " ", "{", "]", ",", ":", "word"].randomElement(using: &generator) ?? ""
            }
        }
        return output + "\""
    }

    private static func space(_ generator: inout SplitMix64) -> String {
        guard Int.random(in: 0..<4, using: &generator) == 0 else { return "" }
        return [" ", "  ", "\t", "\r", " \n "].randomElement(using: &generator) ?? ""
    }
}
