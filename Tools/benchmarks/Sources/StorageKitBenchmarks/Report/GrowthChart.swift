import Foundation

/// A picture of costs by the length of the log, both on logarithmic scales.
struct GrowthChart {
    struct Point {
        let events: Int
        let milliseconds: Spread
    }

    struct Line {
        let name: String
        /// At least one, the longest log last.
        let points: [Point]
    }

    static let title = "How costs grow with the log"

    let lines: [Line]

    // MARK: Scales

    static let (width, height) = (720, 420)
    /// The edges of the area that has a grid. The names of the lines are on its right.
    static let (left, right, top, bottom) = (66, 500, 72, 360)
    private static let labelDistance = 17.0

    var sizes: [Int] { Set(lines.flatMap(\.points).map(\.events)).sorted() }

    /// The exponents of ten between which all times are.
    var decades: ClosedRange<Int> {
        let spreads = lines.flatMap(\.points).map(\.milliseconds)
        let lowest = Int(log10(spreads.map(\.minimum).min() ?? 1).rounded(.down))
        let highest = Int(log10(spreads.map(\.maximum).max() ?? 1).rounded(.up))
        return lowest...max(lowest + 1, highest)
    }

    func x(_ events: Int) -> Double {
        let sizes = sizes
        guard let least = sizes.first, let most = sizes.last, least < most else {
            return Double(Self.left + Self.right) / 2
        }
        let share = log(Double(events) / Double(least)) / log(Double(most) / Double(least))
        // Markers don't touch the edges.
        let (first, last) = (Double(Self.left + 14), Double(Self.right - 8))
        return first + (last - first) * share
    }

    func y(_ milliseconds: Double) -> Double {
        let decades = decades
        let share = (log10(milliseconds) - Double(decades.lowerBound)) / Double(decades.count - 1)
        return Double(Self.bottom) - Double(Self.bottom - Self.top) * share
    }

    /// The heights of labels that would like to be at these, in the same order: moved as far as they need to be apart.
    static func heights(ofLabelsAt wanted: [Double]) -> [Double] {
        var heights = wanted
        for index in heights.indices.dropFirst() {
            heights[index] = max(heights[index], heights[index - 1] + labelDistance)
        }
        var limit = Double(bottom)
        for index in heights.indices.reversed() {
            heights[index] = min(heights[index], limit)
            limit = heights[index] - labelDistance
        }
        return heights
    }
}
