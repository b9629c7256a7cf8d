import Dispatch
import Foundation
import StorageKit

/// The files of a command that don't have their names yet, and its temporary folders.
enum UnfinishedFiles {
    /// Runs `body`, and removes the files that it is writing and its temporary folders if a signal ends the process meanwhile: their names are unknown
    /// to those who could remove them later. The shell of the user's command that it runs gets the signal as well, except an interrupt, which a
    /// terminal sends to both.
    ///
    /// Not inside another call: signals would be lost.
    static func removedBySignals<Result>(during body: () async throws -> Result) async rethrows -> Result {
        var sources: [(number: Int32, source: any DispatchSourceSignal)] = []
        for number in [SIGTERM, SIGINT, SIGHUP] where !isIgnored(number) {
            ShellCommand.passOn(number)
            sources.append((number, await source(number)))
        }
        defer {
            for (number, source) in sources {
                source.cancel()
                signal(number, SIG_DFL)
            }
        }
        do {
            return try await body()
        } catch {
            // Once a signal is ending the process, opening a file fails; that error must not end it in another way.
            ProcessEnd.waitIfBegun()
            throw error
        }
    }

    /// Ignores a signal, so that only its source receives it, and returns whether the process did so from its beginning, as nohup has it.
    private static func isIgnored(_ number: Int32) -> Bool {
        unsafeBitCast(signal(number, SIG_IGN), to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Has a thread of its own: those of the global queue may all wait for a command's end.
    private static let queue = DispatchQueue(label: "storagekit.signals")

    private static func source(_ number: Int32) async -> any DispatchSourceSignal {
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler {
            ShellCommand.signalAll(number)
            end(by: number)
        }
        // Until then, signals would be lost.
        await withCheckedContinuation { registered in
            source.setRegistrationHandler { registered.resume() }
            source.resume()
        }
        return source
    }

    /// Removes them and ends the process by a signal.
    static func end(by number: Int32) -> Never {
        ProcessEnd.current.begin()
        // Before new files are prevented: removing a folder opens it.
        PrivateFolder.discardAll()
        preventNewFiles()
        FilePlacement.discardAll()
        ProgressBar.clear()
        // The process must be seen to be ended by the signal: shells end a loop only then.
        signal(number, SIG_DFL)
        ThreadSignal.send(number)
        exit(128 + number)
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
