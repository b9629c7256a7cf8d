internal import Foundation

/// Where a program runs, which decides what a dependency is that nobody has given.
public enum DependencyContext: Sendable, Hashable {
    case live
    case preview
    case test

    /// What this process is: a test bundle, a preview of Xcode, or neither.
    static let ofProcess: DependencyContext = {
        let environment = ProcessInfo.processInfo.environment
        if environment["XCODE_RUNNING_FOR_PREVIEWS"] == "1" { return .preview }
        let isTest =
            environment["XCTestConfigurationFilePath"] != nil
            || CommandLine.arguments.first.map { $0.hasSuffix(".xctest") || $0.hasSuffix("/xctest") } == true
            || CommandLine.arguments.contains { $0 == "--testing-library" || $0.hasSuffix(".xctest") }
        return isTest ? .test : .live
    }()
}
