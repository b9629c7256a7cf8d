internal import CSQLite
internal import StorageCore

/// The values of one change as conditions compare them, each converted once at most, however many conditions ask.
///
/// Isolation: not `Sendable`; it belongs to a ``Router``.
package final class RowKeys {
    package enum Image: Int {
        case old, new
    }

    private struct Entry {
        /// The change that it was made for.
        var stamp: UInt64 = 0
        var start = 0
        /// Negative for NULL.
        var count = 0
    }

    private(set) var readings: [ColumnReading] = []
    private let texts: RowTexts?
    private var indices: [ColumnReading: ReadingIndex] = [:]
    /// Two for each reading: of the row before and after.
    private var entries: [Entry] = []
    private let buffer = KeyBuffer()
    private var stamp: UInt64 = 0
    /// The current change, and the source of values that its events don't contain.
    private var changes: ChangeFold?
    private var change: FoldedChange?
    private var rows: CurrentRows?
    private var isCompleted = false
    /// Whether a value was read that is unknown. Results since then are invalid.
    private(set) var failed = false
    /// Whether time is short: no words are cut, no long texts converted.
    private(set) var isQuick = false
    private static let quickSize: UInt32 = 1 << 16
    /// The words of the row before and after, and the changes that they were cut for.
    private let wordLists = [WordList(), WordList()]
    private var wordStamps: [UInt64] = [0, 0]

    package init(_ layout: RowLayout) { texts = layout.texts }

    /// Returns the index of a way of comparing a column, and adds it if it is new.
    func add(_ reading: ColumnReading) -> ReadingIndex {
        if let known = indices[reading] { return known }
        let new = ReadingIndex(index: readings.count)
        indices[reading] = new
        readings.append(reading)
        entries.append(Entry())
        entries.append(Entry())
        return new
    }

    /// What a reading is; not for that of words.
    subscript(reading: ReadingIndex) -> ColumnReading { readings[reading.index] }

    /// Starts the evaluation of another change.
    func begin(
        _ change: FoldedChange, of changes: ChangeFold, rows: CurrentRows?, isQuick: Bool = false
    ) {
        self.isQuick = isQuick
        self.changes = changes
        self.change = change
        self.rows = rows
        stamp += 1
        buffer.removeAll()
        isCompleted = false
        failed = false
    }

    /// Releases the change.
    func end() {
        changes = nil
        rows = nil
    }

    /// The key; nil for NULL. Valid until the next call.
    @inline(__always)
    func key(_ reading: ReadingIndex, _ image: Image) -> UnsafeRawBufferPointer? {
        let index = 2 * reading.index + image.rawValue
        if entries[index].stamp != stamp { makeKey(reading, of: image, at: index) }
        let entry = entries[index]
        return entry.count < 0 ? nil : buffer.bytes(at: entry.start, count: entry.count)
    }

    /// The columns that a reading looks at.
    func columns(of reading: ReadingIndex) -> ColumnMask {
        reading == .words ? texts?.columns ?? .none : ColumnMask(index: self[reading].columnIndex)
    }

    /// The row's words.
    func words(_ image: Image) -> WordList {
        let words = wordLists[image.rawValue]
        guard !isQuick else {
            failed = true
            return words
        }
        guard wordStamps[image.rawValue] != stamp else { return words }
        wordStamps[image.rawValue] = stamp
        words.removeAll()
        for columnIndex in texts?.columnIndices ?? [] {
            if let value = value(columnIndex, image) { texts?.cut(value, into: words) }
        }
        return words
    }

    /// Two keys of the same row, neither of them NULL.
    func keys(
        _ left: ReadingIndex, _ right: ReadingIndex, of image: Image
    ) -> (UnsafeRawBufferPointer, UnsafeRawBufferPointer)? {
        guard key(left, image) != nil, let second = key(right, image), let first = key(left, image) else { return nil }
        return (first, second)
    }

    private func makeKey(_ reading: ReadingIndex, of image: Image, at index: Int) {
        let reading = self[reading]
        var entry = Entry(stamp: stamp, start: buffer.count, count: -1)
        if let value = value(reading.columnIndex, image), ComparisonKey.append(value, reading, to: buffer) {
            entry.count = buffer.count - entry.start
        }
        entries[index] = entry
    }

    private func value(_ columnIndex: Int, _ image: Image) -> storage_value? {
        guard let changes, let change else { return nil }
        let row = image == .old ? changes.old(change) : changes.new(change)
        if row[columnIndex].isUnknown, !isCompleted {
            isCompleted = true
            if !changes.complete(change, from: rows) { failed = true }
        }
        guard !row[columnIndex].isUnknown, !isQuick || row[columnIndex].size <= Self.quickSize else {
            failed = true
            return nil
        }
        return row[columnIndex]
    }
}
