package import Foundation

/// Compiles sources against the modules of the build that runs, to see what the compiler says of them.
package enum SwiftCompiler {
    /// The folder of the package.
    package static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Where the build has put the modules.
    private static let products: URL = {
        let main = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        var folder = main.resolvingSymlinksInPath()
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            let module = folder.appendingPathComponent("Modules/StorageKit.swiftmodule")
            if FileManager.default.fileExists(atPath: module.path) { break }
        }
        return folder
    }()

    /// The plug-in with the macros.
    package static let macros = products.appendingPathComponent("StorageMacros-tool")

    /// Where the compiler finds our modules, the C libraries that they are built on, and the macros.
    private static let search: [String] = {
        let scratch = products.deletingLastPathComponent().deletingLastPathComponent()
        let folders = [
            products.appendingPathComponent("Modules"), root.appendingPathComponent("Sources/CZstd"),
            scratch.appendingPathComponent("checkouts/GRDB.swift/Sources/GRDBSQLite"),
        ]
        let map = products.appendingPathComponent("CSQLite.build/module.modulemap")
        return folders.flatMap { ["-I", $0.path] }
            + [
                "-Xcc", "-fmodule-map-file=\(map.path)", "-load-plugin-executable",
                "\(macros.path)#StorageMacros",
            ]
    }()

    /// Runs the compiler in Swift 6 mode, with warnings as errors. Modules are looked for in the arguments' folders first.
    ///
    /// A thread of its own waits for it: that takes seconds, and other tests need the few threads of tasks.
    ///
    /// - Returns: What it says; empty where it has nothing to say.
    package static func run(_ arguments: [String]) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try output(of: arguments) }) }
        }
    }

    private static func output(of arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["swiftc", "-swift-version", "6", "-parse-as-library", "-warnings-as-errors"] + arguments + search
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.start()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitForEnd()
        return process.terminationStatus == 0 ? text : "\(text)\nstatus \(process.terminationStatus)"
    }
}
