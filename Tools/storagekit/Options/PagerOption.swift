import ArgumentParser

/// Whether long output goes through a pager where a terminal shows it.
struct PagerOption: ParsableArguments {
    @Flag(name: .long, help: "Don't page long output on a terminal.")
    var noPager = false

    init() {}
}

/// A command whose output may be longer than a screen, and ends.
protocol PagedCommand {
    /// Whether its output is paged where a terminal shows it.
    var isPaged: Bool { get }
}

/// One that has the formats of most commands.
protocol FormattedPagedCommand: PagedCommand {
    var pager: PagerOption { get }
    var format: FormatOptions { get }
}

extension FormattedPagedCommand {
    /// Programs read the other formats.
    var isPaged: Bool { !pager.noPager && format.format == .human }
}
