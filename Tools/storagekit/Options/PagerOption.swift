import ArgumentParser

/// Whether long output to a terminal goes through a pager.
struct PagerOption: ParsableArguments {
    @Flag(name: .long, help: "Don't page long output on a terminal.")
    var noPager = false

    init() {}
}

/// A command whose output is finite, but may be longer than a screen.
protocol PagedCommand {
    /// Whether its output to a terminal is paged.
    var isPaged: Bool { get }
}

/// A paged command with the usual formats.
protocol FormattedPagedCommand: PagedCommand {
    var pager: PagerOption { get }
    var format: FormatOptions { get }
}

extension FormattedPagedCommand {
    /// Only the format for people is paged.
    var isPaged: Bool { !pager.noPager && format.format == .human }
}
