internal import Foundation

/// Where a program runs, which determines the default values of dependencies.
public enum DependencyContext: Sendable, Hashable {
    /// A program.
    case live
    /// An Xcode preview.
    case preview
    /// A test.
    case test

    /// The context of this process: a test bundle, an Xcode preview, or neither.
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
