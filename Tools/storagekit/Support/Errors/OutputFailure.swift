import Foundation

/// A failed write to standard output.
struct OutputFailure: Error {
    /// The system's number of the error.
    let code: Int32

    /// Why, in one sentence.
    var reason: String {
        code == EBADF ? "Standard output is closed." : "\(String(cString: strerror(code)))."
    }

    /// What to do about it, as a sentence.
    var remedy: String {
        switch code {
        case ENOSPC, EDQUOT: "Free some space, or write to another disk."
        case EBADF: "Leave standard output open, or redirect it: > FILE"
        default: "Redirect it to another file: > FILE"
        }
    }
}

extension OutputFailure {
    /// Runs `body`, which writes the report of a change that is stored.
    ///
    /// - Parameters:
    ///   - done: What was done, as a clause; nil if nothing was.
    ///   - next: What to type to see it.
    /// - Throws: `partial` if the report can't be written: after another status a script would repeat the change.
    static func reporting(_ done: String?, next: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let failure as OutputFailure {
            guard let done else { throw failure }
            throw CommandError(
                .partial, "\(done); only its report couldn't be written.", why: failure.reason, next: next)
        }
    }

    /// - Parameter commit: The commit of the change; nil if nothing was changed.
    static func reporting(commit: Int64?, _ body: () throws -> Void) throws {
        let point = commit.map { "t:\($0)" }
        try reporting(
            point.map { "The change was stored as \($0)" }, next: "Type: storagekit show \(point ?? "")", body)
    }
}
