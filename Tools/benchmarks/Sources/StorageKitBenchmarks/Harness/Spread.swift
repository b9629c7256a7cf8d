/// Median and range of the same quantity in several runs.
struct Spread {
    let median: Double
    let minimum: Double
    let maximum: Double

    /// Nil if there are no values.
    init?(_ values: [Double]) {
        let sorted = values.sorted()
        guard let first = sorted.first, let last = sorted.last else { return nil }
        let middle = sorted.count / 2
        median = sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
        minimum = first
        maximum = last
    }
}
