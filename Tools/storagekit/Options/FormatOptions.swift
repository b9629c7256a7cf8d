import ArgumentParser

extension TimeDisplay: ExpressibleByArgument {}

/// The format of a command's results.
struct FormatOptions: ParsableArguments {
    @Option(name: .long, help: "The output format; not every command supports each.")
    var format: OutputFormat = .human

    @Option(name: .long, help: "When to use colours.")
    var color: ColorChoice = .auto

    // Points are parsed with the command line, so `TimeDisplay.current` has already looked for it.
    @Option(name: .long, help: "Read and show times in UTC or in your zone. Default: your zone on a terminal.")
    var time: TimeDisplay?

    init() {}

    /// Colours and links for standard output. Only output for people has any.
    var style: Style { format == .human ? Self.style(color) : .plain }

    static func style(_ color: ColorChoice) -> Style {
        // An invalid template was reported before.
        Terminal(descriptor: 1).style(color, links: (try? PointLinks.current.get()) ?? nil)
    }

    /// Refuses formats that a command doesn't offer.
    func require(_ formats: [OutputFormat], of command: String) throws(CommandError) {
        try Self.require(formats, of: command, insteadOf: format)
    }

    static func require(
        _ formats: [OutputFormat], of command: String, insteadOf format: OutputFormat
    ) throws(CommandError) {
        guard !formats.contains(format) else { return }
        let names = formats.map(\.rawValue).joined(separator: ", ")
        throw CommandError(
            .usage, "\(command) can't write \(format.rawValue).", why: "Its formats are \(names).",
            next: "Add --format \(names.replacing(", ", with: " or --format ")).")
    }
}
