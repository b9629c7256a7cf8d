import ArgumentParser

/// The unit of a replay's steps.
enum ReplayUnit: String, CaseIterable, ExpressibleByArgument, Sendable {
    case event, commit
}
