import Foundation

/// The properties of the device behind an output.
struct Terminal: Sendable {
    let isTerminal: Bool
    /// The number of columns of the terminal; nil if the output isn't one, so that nothing is truncated in files and pipes.
    let width: Int?
    private let noColor: Bool
    private let isDumb: Bool

    static let fallbackWidth = 80

    init(isTerminal: Bool, measuredWidth: Int?, environment: [String: String]) {
        self.isTerminal = isTerminal
        let stated = environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        width = isTerminal ? stated ?? measuredWidth ?? Self.fallbackWidth : nil
        // no-color.org: present and not empty, whatever the value.
        noColor = environment["NO_COLOR"]?.isEmpty == false
        isDumb = environment["TERM"] == "dumb"
    }

    /// - Parameter descriptor: 1 for standard output, 2 for standard error; with a pager, the pager's terminal.
    init(descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment) {
        let descriptor = Pager.device(behind: descriptor)
        var size = winsize()
        let isMeasured = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        self.init(
            isTerminal: isatty(descriptor) == 1, measuredWidth: isMeasured ? Int(size.ws_col) : nil,
            environment: environment)
    }

    /// Whether it can be cleared and drawn again.
    var isScreen: Bool { isTerminal && !isDumb }

    /// - Parameter links: The links of points, used on a terminal with colours.
    func style(_ choice: ColorChoice, links: PointLinks? = nil) -> Style {
        let showsMore = isTerminal && !noColor && !isDumb
        var style: Style =
            switch choice {
            case .always: .colored
            case .never: .plain
            case .auto: showsMore ? .colored : .plain
            }
        if style.isColored, showsMore { style.links = links }
        return style
    }
}
