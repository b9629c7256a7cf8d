import Foundation

extension GrowthChart {
    /// It has a background of its own, so that it is readable on any page.
    private static let (background, border, ink, faint, grid) = ("#ffffff", "#d0d7de", "#1f2328", "#59636e", "#e4e8ec")

    private struct Style {
        let color: String
        /// A path around the origin.
        let marker: String
    }

    /// The colors differ for color-blind readers too, and each has a marker of its own.
    private static let styles = [
        Style(color: "#222222", marker: "M-4 -4H4V4H-4Z"),
        Style(color: "#d55e00", marker: "M0 -5.5L5.5 0L0 5.5L-5.5 0Z"),
        Style(color: "#0060b0", marker: "M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0 -4.5 0Z"),
        Style(color: "#0a9b70", marker: "M0 -5L5 4H-5Z"),
        Style(color: "#b8478f", marker: "M0 5L5 -4H-5Z"),
        Style(color: "#58b0e8", marker: "M-1.5 -5H1.5V-1.5H5V1.5H1.5V5H-1.5V1.5H-5V-1.5H-1.5Z"),
    ]

    private var styledLines: [(line: Line, style: Style)] {
        lines.enumerated().map { ($1, Self.styles[$0 % Self.styles.count]) }
    }

    /// The same values make the same text.
    var svg: String {
        let parts = [frame] + decades.map(row) + columns + styledLines.map(drawing) + labels
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.width)" height="\(Self.height)" \
            viewBox="0 0 \(Self.width) \(Self.height)" role="img">
            <title>\(Self.title)</title>
            <desc>\(styledLines.map { description(of: $0.line) }.joined(separator: "; "))</desc>
            <g font-family="system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif" font-size="12" \
            fill="\(Self.ink)">
            \(parts.joined(separator: "\n"))
            </g>
            </svg>

            """
    }

    // MARK: Axes

    private var frame: String {
        """
        <rect x="0.5" y="0.5" width="\(Self.width - 1)" height="\(Self.height - 1)" rx="8" fill="\(Self.background)" \
        stroke="\(Self.border)"/>
        <text x="20" y="28" font-size="15" font-weight="600">\(Self.title)</text>
        <text x="20" y="47" fill="\(Self.faint)">Milliseconds: median, minimum and maximum. Both scales are \
        logarithmic.</text>
        <text x="\((Self.left + Self.right) / 2)" y="\(Self.bottom + 42)" text-anchor="middle" \
        fill="\(Self.faint)">events in the log</text>
        """
    }

    private func row(of exponent: Int) -> String {
        let power = pow(10, Double(exponent))
        let y = Self.text(y(power))
        let label = exponent < 0 ? String(format: "%.\(-exponent)f", power) : Format.count(Int(power))
        return """
            <path d="M\(Self.left) \(y)H\(Self.right)" stroke="\(Self.grid)"/>
            <text x="\(Self.left - 8)" y="\(y)" dy="4" text-anchor="end" fill="\(Self.faint)">\(label)</text>
            """
    }

    private var columns: [String] {
        var labelled = Double.infinity
        // The longest log is labelled, and of the others those that leave room.
        return sizes.reversed().map { events in
            let (value, x) = (x(events), Self.text(x(events)))
            let column = "<path d=\"M\(x) \(Self.top)V\(Self.bottom)\" stroke=\"\(Self.grid)\"/>"
            guard labelled - value > 72 else { return column }
            labelled = value
            return """
                \(column)
                <text x="\(x)" y="\(Self.bottom + 20)" text-anchor="middle" \
                fill="\(Self.faint)">\(Format.count(events))</text>
                """
        }
    }

    // MARK: Lines

    private func drawing(of line: Line, _ style: Style) -> String {
        let medians = line.points.map { "\(Self.text(x($0.events))) \(Self.text(y($0.milliseconds.median)))" }
        let ranges = line.points.map { point in
            let (x, spread) = (x(point.events), point.milliseconds)
            let (high, low) = (Self.text(y(spread.maximum)), Self.text(y(spread.minimum)))
            return "M\(Self.text(x - 4)) \(high)h8M\(Self.text(x)) \(high)V\(low)M\(Self.text(x - 4)) \(low)h8"
        }
        let markers = medians.map { "<path transform=\"translate(\($0))\" d=\"\(style.marker)\"/>" }
        return """
            <g stroke="\(style.color)" fill="none">
            <path d="M\(medians.joined(separator: "L"))" stroke-width="2" stroke-linejoin="round"/>
            <path d="\(ranges.joined())" stroke-width="1.2"/>
            </g>
            <g fill="\(style.color)" stroke="\(Self.background)" stroke-width="0.8">
            \(markers.joined(separator: "\n"))
            </g>
            """
    }

    /// Beside the ends of the lines.
    private var labels: [String] {
        let ends = styledLines.compactMap { line, style in
            line.points.last.map { (line: line, style: style, point: $0, y: y($0.milliseconds.median)) }
        }.sorted { ($0.y, $0.line.name) < ($1.y, $1.line.name) }
        return zip(ends, Self.heights(ofLabelsAt: ends.map(\.y))).map { end, height in
            let start = "\(Self.text(x(end.point.events) + 8)) \(Self.text(end.y))"
            return """
                <path d="M\(start)L\(Self.right + 16) \(Self.text(height))h5" stroke="\(end.style.color)" fill="none"/>
                <text x="\(Self.right + 26)" y="\(Self.text(height))" dy="4">\(Self.escaped(end.line.name)) \
                <tspan font-weight="600">\(Format.number(end.point.milliseconds.median)) ms</tspan></text>
                """
        }
    }

    // MARK: Text

    private func description(of line: Line) -> String {
        let values = line.points.map { point in
            "\(Format.number(point.milliseconds.median)) ms with \(Format.count(point.events)) events"
        }
        return "\(Self.escaped(line.name)): \(values.joined(separator: ", "))"
    }

    /// A coordinate to a tenth.
    private static func text(_ coordinate: Double) -> String { String(format: "%.1f", coordinate) }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    }
}
