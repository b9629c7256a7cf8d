import Foundation
import TestSupport
import Testing

@testable import StorageKitTool

/// Random documents, whole and damaged, held against Foundation's parser.
@Suite struct JSONFuzzTests {
    private static let rounds = testScale > 1 ? 3_000 : 1_500

    @Test("Random documents are read as Foundation reads them", arguments: testSeeds(1))
    func randomDocumentsMatchFoundation(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        for round in 0..<Self.rounds {
            let document = DocumentGenerator.document(using: &generator)
            let expected = try JSONSerialization.jsonObject(with: Data(document.utf8), options: .fragmentsAllowed)
            let value: OwnedValue
            do {
                value = try scan(document)
            } catch {
                Issue.record("seed \(seed) round \(round): \(error) in \(document)")
                return
            }
            guard Self.equal(value, expected) else {
                Issue.record("seed \(seed) round \(round): \(value) isn't \(expected)")
                return
            }
        }
    }

    /// Whatever the bytes, the scanner either refuses them with a place inside of the line, or what it took is what
    /// Foundation takes too.
    @Test("Damaged documents are refused or read alike", arguments: testSeeds(1))
    func damagedDocuments(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        var refused = 0
        for round in 0..<Self.rounds {
            var bytes = Array(DocumentGenerator.document(using: &generator).utf8)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                DocumentGenerator.damage(&bytes, using: &generator)
            }
            do throws(InputError) {
                let value = try scan(bytes)
                let expected = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
                guard let expected, Self.equal(value, expected) else {
                    Issue.record("seed \(seed) round \(round): took \(String(decoding: bytes, as: UTF8.self))")
                    return
                }
            } catch {
                refused += 1
                #expect((0...bytes.count).contains(error.offset), "seed \(seed) round \(round)")
            }
        }
        #expect(refused > Self.rounds / 4)
    }

    @Test("Reals are read as the standard library reads them", arguments: testSeeds(1))
    func realsMatchStandardLibrary(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        for _ in 0..<(testScale > 1 ? 20_000 : 10_000) {
            let text: String
            if Bool.random(using: &generator) {
                let value = Double(bitPattern: generator.next())
                guard value.isFinite else { continue }
                text = "\(value)"
            } else {
                let digits = String(generator.next() >> UInt64.random(in: 0...63, using: &generator))
                text = "\(digits).\(generator.next() % 1000)e\(Int.random(in: -40...40, using: &generator))"
            }
            let expected = try #require(Double(text))
            #expect(try scan(text) == .real(expected.bitPattern), "seed \(seed): \(text)")
        }
    }

    /// Containers are compared through Foundation's reading of the minified source.
    private static func equal(_ value: OwnedValue, _ expected: Any) -> Bool {
        switch value {
        case .null: expected is NSNull
        case .bool(let value): (expected as? Bool) == value
        case .integer(let value): (expected as? NSNumber)?.int64Value == value
        case .real(let bits): (expected as? NSNumber).map { near($0.doubleValue, Double(bitPattern: bits)) } ?? false
        case .text(let value): (expected as? String).map { Array($0.utf8) == Array(value.utf8) } ?? false
        case .blob: true
        case .json(let source):
            (try? JSONSerialization.jsonObject(with: Data(source.utf8))).map {
                NSArray(array: [$0]).isEqual(to: [expected])
            } ?? false
        }
    }

    /// Foundation goes through decimal numbers on some platforms; exactness is tested against the standard library.
    private static func near(_ left: Double, _ right: Double) -> Bool {
        left == right || abs(left - right) <= abs(right) * 1e-14
    }
}
