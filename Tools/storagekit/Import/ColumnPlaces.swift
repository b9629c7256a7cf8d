import Foundation

/// The columns for the values of a row, kept for the next row.
///
/// Rows of a table mostly have the same names in the same order, so one comparison of bytes finds the column of a value, or that the name has no
/// column because all of its values were null.
struct ColumnPlaces {
    /// The names, concatenated; `ends` has the end of each.
    private var names: [UInt8] = []
    private var ends: [Int] = []
    /// The column of each value, -1 for values that aren't stored by themselves.
    private(set) var columns: [Int] = []
    /// The index of the value that repeats the key, if rows have one.
    private(set) var ownId: Int?

    /// Returns whether a row has the same names in the same order, and a column for each value.
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
