/// Metrics in the text format of Prometheus and compatible tools: version 0.0.4, UTF-8.
///
/// Names are in base units, counters end in `_total`, and each family has its `HELP` and `TYPE`. A family without samples isn't written.
package struct PrometheusText: Sendable {
    /// The format's content type.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// The type of a family's numbers.
    package enum Kind: String, Sendable {
        /// A number that only grows, except for a restart.
        case counter
        /// A number that goes up and down.
        case gauge
        case histogram
    }

    /// The numbers of one name.
    package struct Family: Sendable {
        package let name: String
        package let kind: Kind
        package let help: String
        package let samples: [(suffix: String, labels: [(name: String, value: String)], value: MetricValue)]
    }

    /// In the order in which they were added.
    package private(set) var families: [Family] = []

    package init() {}

    /// One number without labels.
    package mutating func add(_ name: String, as kind: Kind, _ value: some MetricNumber, help: String) {
        add(name, as: kind, [([], value)], help: help)
    }

    /// A family whose samples differ in their labels.
    package mutating func add<Number: MetricNumber>(
        _ name: String, as kind: Kind, _ samples: [(labels: [(name: String, value: String)], value: Number)],
        help: String
    ) {
        guard !samples.isEmpty else { return }
        families.append(
            Family(name: name, kind: kind, help: help, samples: samples.map { ("", $0.labels, $0.value.metricValue) }))
    }

    /// - Parameter name: Ends in `_seconds`.
    package mutating func add(_ name: String, _ histogram: DurationHistogram, help: String) {
        let counts = zip(DurationHistogram.bounds, histogram.cumulativeCounts).map { ("\($0.seconds)", $1) }
        let buckets = (counts + [("+Inf", histogram.count)]).map { bound, count in
            (suffix: "_bucket", labels: [(name: "le", value: bound)], value: count.metricValue)
        }
        let totals: [(suffix: String, labels: [(name: String, value: String)], value: MetricValue)] = [
            ("_sum", [], .real(histogram.sum.seconds)), ("_count", [], histogram.count.metricValue),
        ]
        families.append(Family(name: name, kind: .histogram, help: help, samples: buckets + totals))
    }

    /// The whole text.
    package var text: String {
        var text = ""
        for family in families {
            text += "# HELP \(family.name) \(Self.escaped(family.help, quotes: false))\n"
            text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
            for (suffix, labels, value) in family.samples {
                let pairs = labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
                let braces = labels.isEmpty ? "" : "{\(pairs.joined(separator: ","))}"
                text += "\(family.name)\(suffix)\(braces) \(value)\n"
            }
        }
        return text
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

/// A number of a metric.
package enum MetricValue: Sendable, CustomStringConvertible {
    case integer(Int64)
    case real(Double)

    package var description: String {
        switch self {
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        }
    }

    package var number: Double {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        }
    }
}

/// A type of number that a metric can have.
package protocol MetricNumber {
    var metricValue: MetricValue { get }
}

extension Int: MetricNumber { package var metricValue: MetricValue { .integer(Int64(self)) } }
extension Int64: MetricNumber { package var metricValue: MetricValue { .integer(self) } }
extension Double: MetricNumber { package var metricValue: MetricValue { .real(self) } }

extension Duration {
    /// The duration in seconds, the unit of metrics.
    package var seconds: Double { self / .seconds(1) }
}
