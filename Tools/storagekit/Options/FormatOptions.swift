import ArgumentParser

extension TimeDisplay: ExpressibleByArgument {}

/// How a command writes its results.
struct FormatOptions: ParsableArguments {
    @Option(name: .long, help: "The output format; not every command supports each.")
    var format: OutputFormat = .human

    @Option(name: .long, help: "When to use colours.")
    var color: ColorChoice = .auto

    // Points are read while the command line still is, so `TimeDisplay.current` has looked for it already.
    @Option(name: .long, help: "Read and show times in UTC or in your zone. Default: your zone on a terminal.")
    var time: TimeDisplay?

    init() {}

    /// Colours and links for standard output. Only output for people has any.
    var style: Style { format == .human ? Self.style(color) : .plain }

    static func style(_ color: ColorChoice) -> Style {
        // One that isn't valid was reported before.
        Terminal(descriptor: 1).style(color, links: (try? PointLinks.current.get()) ?? nil)
    }

    /// Colours for standard error.
    var errorStyle: Style { Terminal(descriptor: 2).style(color) }

    /// Refuses formats that a command doesn't offer.
    func require(_ formats: [OutputFormat], of command: String) throws(CommandError) {
        guard !formats.contains(format) else { return }
        let names = formats.map(\.rawValue).joined(separator: ", ")
        throw CommandError(
            .usage, "\(command) can't write \(format.rawValue).", why: "Its formats are \(names).",
            next: "Add --format \(names.replacing(", ", with: " or --format ")).")
    }
}
