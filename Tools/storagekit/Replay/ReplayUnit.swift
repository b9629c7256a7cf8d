import ArgumentParser

/// What a replay goes on by.
enum ReplayUnit: String, CaseIterable, ExpressibleByArgument, Sendable {
    case event, commit
}
