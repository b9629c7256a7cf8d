import ArgumentParser

/// When output is coloured.
enum ColorChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// On a terminal, unless `NO_COLOR` is set.
    case auto
    case always
    case never
}
