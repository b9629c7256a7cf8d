internal import CSQLite
internal import StorageCore
internal import StorageLog

/// The sum or the mean of the values that aren't NULL. Values are converted as SQLite's `sum` does: a text that is a
/// number counts as that number, any other text or blob as the number that it begins with.
///
/// Whole numbers and reals are both summed exactly: the result is the double nearest to the true sum, whatever was
/// added and removed. SQLite adds doubles one after another, so its result may differ in the last digit.
final class SumAccumulator: Accumulator {
    private let isMean: Bool
    /// How many values aren't NULL, and how many of them aren't whole numbers.
    private var count = 0
    private var realCount = 0
    private var integers: Int128 = 0
    private var reals: ExactSum?

    init(isMean: Bool) { self.isMean = isMean }

    private enum Number {
        case integer(Int64)
        case real(Double)
    }

    private static func number(_ value: storage_value) -> Number? {
        switch Int32(value.type) {
        case SQLITE_INTEGER: return .integer(Int64(bitPattern: value.bits))
        case SQLITE_FLOAT: return .real(Double(bitPattern: value.bits))
        case SQLITE_TEXT:
            if case .integer(let whole)? = SQLiteNumber.number(text: value.addressed) { return .integer(whole) }
            return .real(SQLiteNumber.leadingReal(value.addressed))
        case SQLITE_BLOB: return .real(SQLiteNumber.leadingReal(value.addressed))
        default: return nil
        }
    }

    func add(_ value: storage_value) {
        guard let number = Self.number(value) else { return }
        count += 1
        switch number {
        case .integer(let value): integers += Int128(value)
        case .real(let value):
            realCount += 1
            if reals == nil { reals = ExactSum() }
            reals?.add(value)
        }
    }

    func remove(_ value: storage_value) {
        guard let number = Self.number(value) else { return }
        count -= 1
        switch number {
        case .integer(let value): integers -= Int128(value)
        case .real(let value):
            realCount -= 1
            if realCount == 0 { reals = nil } else { reals?.remove(value) }
        }
    }

    /// The sum as a double; nil if it isn't a number.
    private var real: Double? {
        if reals == nil, let small = Int64(exactly: integers) { return Double(small) }
        var sum = reals ?? ExactSum()
        sum.add(integers)
        return sum.value
    }

    /// - Throws: Where all values are whole numbers and their sum is beyond 64 bits.
    func output() throws -> StorageValue {
        guard count > 0 else { return .null }
        if isMean { return real.map { .real($0 / Double(count)) } ?? .null }
        if reals != nil { return real.map { .real($0) } ?? .null }
        guard let sum = Int64(exactly: integers) else {
            throw StorageError(
                .invalidValue, "The sum is an integer overflow: \(integers) doesn't fit into 64 bits.",
                remedy: "Sum up smaller numbers, or a column of reals.")
        }
        return .integer(sum)
    }
}
