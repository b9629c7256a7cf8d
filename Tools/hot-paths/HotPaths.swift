import CSQLite
import CZstd
import Dispatch
import Foundation

/// Runs one hot path on fixed data, for callgrind to count its instructions: `Tools/instruction-gate` starts it once for each.
///
/// `hot-paths --list`: names, numbers of operations and descriptions. `hot-paths --versions`: what the counts depend on beside the
/// sources. `hot-paths NAME FOLDER`: runs a path with a store in a folder.
@main
enum HotPaths {
    static let all: [HotPath] = [
        .narrowUpdates, .wideInserts, .typedSave, .singleSaves, .bulkUpdate, .referenceUpdates,
        .importLines, .sealing, .replay, .rowHistory, .asOf,
        .routing, .unconcerned, .savesPastLists, .liveList, .fullText,
    ]

    static func main() {
        // The main thread waits: an `async` main ends it while others run, which callgrind doesn't survive.
        let isDone = DispatchSemaphore(value: 0)
        Task.detached {
            await run()
            isDone.signal()
        }
        isDone.wait()
    }

    private static func run() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch (arguments.first, arguments.count) {
            case ("--list", 1):
                for path in all { print(path.name, path.operations, path.summary, separator: "\t") }
            case ("--versions", 1):
                print("SQLite", String(cString: sqlite3_libversion()))
                print("zstd", String(cString: ZSTD_versionString()))
            case (let name?, 2):
                guard let path = all.first(where: { $0.name == name }) else {
                    throw HotPathError("There is no path \(name).")
                }
                try await path.run(HotPathFolder(arguments[1]))
            default: throw HotPathError("usage: hot-paths --list | --versions | NAME FOLDER")
            }
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }
}
