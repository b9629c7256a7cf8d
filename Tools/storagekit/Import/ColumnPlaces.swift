import Foundation

/// Which columns the values of a row go to, kept for the next row.
///
/// Rows of a table mostly have the same names in the same order, so one comparison of bytes finds the column of a value, and
/// finds that a name has none because all of its values were null.
struct ColumnPlaces {
    /// One name after another, and where each ends.
    private var names: [UInt8] = []
    private var ends: [Int] = []
    /// The column of each value, -1 for values that aren't stored by themselves.
    private(set) var columns: [Int] = []
    /// Which of the values is the key, where rows repeat it.
    private(set) var ownId: Int?

    /// Whether a row has the same names in the same order, and a column for each value.
    func fit(_ row: [HistoryOperation.Column]) -> Bool {
        guard row.count == columns.count else { return false }
        return names.withUnsafeBytes { names in
            var start = 0
            for order in row.indices {
                let name = ByteSlice(rebasing: names[start..<ends[order]])
                guard row[order].name.equals(name), columns[order] >= 0 || row[order].value.isNull || order == ownId
                else { return false }
                start = ends[order]
            }
            return true
        }
    }

    mutating func beginRow() {
        names.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        columns.removeAll(keepingCapacity: true)
        ownId = nil
    }

    mutating func append(_ column: Int, named name: ByteSlice) {
        names.append(contentsOf: name)
        ends.append(names.count)
        columns.append(column)
    }

    mutating func appendOwnId(named name: ByteSlice) {
        ownId = columns.count
        append(-1, named: name)
    }
}
