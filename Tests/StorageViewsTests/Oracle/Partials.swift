/// Exact summation in another way: as numbers that don't overlap, after J. Shewchuk, rounded as in Python's `fsum`.
enum Partials {
    static func sum(_ numbers: [Double]) -> Double {
        if numbers.contains(where: { !$0.isFinite }) { return numbers.filter { !$0.isFinite }.reduce(0, +) }
        var partials: [Double] = []
        for number in numbers {
            var x = number
            var kept: [Double] = []
            for var y in partials {
                if abs(x) < abs(y) { swap(&x, &y) }
                let high = x + y
                let low = y - (high - x)
                if low != 0 { kept.append(low) }
                x = high
            }
            partials = kept + [x]
        }
        var place = partials.count - 1
        guard place >= 0 else { return 0 }
        var high = partials[place]
        var low = 0.0
        while place > 0, low == 0 {
            place -= 1
            let x = high
            high = x + partials[place]
            low = partials[place] - (high - x)
        }
        if place > 0, low != 0, (low < 0) == (partials[place - 1] < 0), partials[place - 1] != 0 {
            let twice = low * 2
            let x = high + twice
            if x - high == twice { high = x }
        }
        return high
    }
}
