import Dispatch
import Foundation
import StorageKit

/// The files of a command that don't have their names yet.
enum UnfinishedFiles {
    /// Runs `body`, and removes the files that it is writing if a signal ends the process meanwhile: their names are unknown to those who could
    /// remove them later.
    static func removedBySignals<Result>(during body: () async throws -> Result) async rethrows -> Result {
        var sources: [(number: Int32, source: any DispatchSourceSignal)] = []
        for number in [SIGTERM, SIGINT, SIGHUP] where !isIgnored(number) {
            sources.append((number, await source(number)))
        }
        defer {
            for (number, source) in sources {
                source.cancel()
                signal(number, SIG_DFL)
            }
        }
        return try await body()
    }

    /// Ignores a signal, so that only its source receives it, and returns whether the process did so from its beginning, as nohup has it.
    private static func isIgnored(_ number: Int32) -> Bool {
        unsafeBitCast(signal(number, SIG_IGN), to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private static func source(_ number: Int32) async -> any DispatchSourceSignal {
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler {
            preventNewFiles()
            FilePlacement.discardAll()
            // The process must be seen to be ended by the signal: shells end a loop only then.
            signal(number, SIG_DFL)
            ThreadSignal.send(number)
        }
        // Until then, signals would be lost.
        await withCheckedContinuation { registered in
            source.setRegistrationHandler { registered.resume() }
            source.resume()
        }
        return source
    }

    /// Lets no thread open a file any more: SQLite would make a journal again that was just removed.
    private static func preventNewFiles() {
        #if os(Linux)
            let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let descriptors = RLIMIT_NOFILE
        #endif
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(descriptors, &none)
    }
}
