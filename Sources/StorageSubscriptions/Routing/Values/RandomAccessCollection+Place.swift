extension RandomAccessCollection where Index == Int {
    /// Where something belongs among elements that are sorted: the place of the first that isn't before it.
    func firstPlace(_ isBefore: (Element) throws -> Bool) rethrows -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if try isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
