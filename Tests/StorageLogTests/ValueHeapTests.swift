import CSQLite
import TestSupport
import Testing

@testable import StorageHistory

/// The heap of a window's texts, checked against an array of arrays.
@Suite struct ValueHeapTests {
    private static let null = storage_value(type: UInt32(SQLITE_NULL), size: 0, bits: 0)

    @Test(
        "Values stay what they are while others are replaced, freed and compacted",
        arguments: TestSettings.seeds(8, from: 31_000))
    func keepsValues(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var heap = ValueHeap()
        var values = [storage_value](repeating: Self.null, count: 40)
        var expected = [[UInt8]?](repeating: nil, count: values.count)
        for step in 0..<2_000 {
            let index = random.below(values.count)
            switch random.below(100) {
            case 0:
                heap.compact(&values)
                #expect(heap.freeBytes == 0, "seed \(seed), step \(step)")
            case 1..<15:
                heap.free(values[index])
                (values[index], expected[index]) = (Self.null, nil)
            case 15..<25:
                let number = storage_value(type: UInt32(SQLITE_INTEGER), size: 0, bits: random.next())
                values[index] = heap.store(number, from: [0], replacing: values[index])
                expected[index] = nil
                #expect(values[index].bits == number.bits, "seed \(seed), step \(step)")
            default:
                let bytes = Self.bytes(&random)
                let text = storage_value(type: UInt32(SQLITE_TEXT), size: UInt32(bytes.count), bits: 0)
                values[index] = heap.store(text, from: bytes + [0], replacing: values[index])
                expected[index] = bytes
            }
            guard step % 50 == 0 || step == 1_999 else { continue }
            let found = zip(values, expected).map { value, bytes in bytes.map { _ in Self.bytes(of: value, in: heap) } }
            guard found != expected else { continue }
            Issue.record("seed \(seed), step \(step)")
            return
        }
        for value in values { heap.free(value) }
        #expect(heap.freeBytes == heap.bytes.count, "seed \(seed)")
    }

    @Test("A text takes the place of one of its size")
    func reusesBlocks() {
        var heap = ValueHeap()
        let long = [UInt8](repeating: 1, count: 1_000)
        let text = storage_value(type: UInt32(SQLITE_TEXT), size: 1_000, bits: 0)
        let first = heap.store(text, from: long, replacing: Self.null)
        let count = heap.bytes.count
        let second = heap.store(text, from: long, replacing: first)
        #expect(second.bits == first.bits)
        heap.free(second)
        let third = heap.store(text, from: long, replacing: Self.null)
        #expect(third.bits == first.bits)
        #expect(heap.bytes.count == count)
    }

    /// Mostly short, some of the sizes that have free lists, few that are too large for one.
    private static func bytes(_ random: inout SplitMix64) -> [UInt8] {
        let size =
            random.chance(60) ? random.below(64) : random.chance(95) ? random.below(600) : 16_000 + random.below(1_000)
        return (0..<size).map { _ in UInt8(random.below(256)) }
    }

    private static func bytes(of value: storage_value, in heap: ValueHeap) -> [UInt8] {
        Array(heap.bytes[Int(value.bits)..<Int(value.bits) + Int(value.size)])
    }
}
