import StorageCore
import Testing

/// The one bisection over sorted elements.
struct PartitioningTests {
    @Test("The index is that of the first element that belongs behind", arguments: 0...9)
    func firstBehind(_ count: Int) {
        let numbers = (0..<count).map { $0 * 2 }
        for limit in -1...2 * count {
            let expected = numbers.firstIndex { $0 >= limit } ?? count
            #expect(numbers.partitioningIndex { $0 >= limit } == expected, "\(limit)")
        }
    }

    @Test("Indices of slices are those of the whole")
    func slices() {
        let numbers = Array(0..<10)
        #expect(numbers[3..<7].partitioningIndex { $0 >= 5 } == 5)
        #expect(numbers[3..<7].partitioningIndex { $0 >= 9 } == 7)
        #expect(numbers[3..<7].partitioningIndex { $0 >= 0 } == 3)
    }
}
