import StorageCore

/// The exit statuses. Scripts rely on these numbers.
///
/// A command that has already written its answer throws a status to exit with it, without further output.
enum ExitStatus: Int32, Error, Sendable {
    case done = 0
    /// A negative answer: there is a difference, nothing matches, a condition is false.
    case negative = 1
    /// The command line is invalid.
    case usage = 2
    /// A store, point, table, row or file doesn't exist.
    case notFound = 3
    /// The store can't be used now or by this program: busy, read-only, too new, or out of order.
    case unavailable = 4
    /// Stored bytes aren't what was written: damaged or tampered with.
    case corrupt = 5
    /// The answer can't be determined.
    case inconclusive = 6
    /// The change conflicts with the current state.
    case conflict = 7
    /// A part was done and the rest is listed, or all was done and its report couldn't be written.
    case partial = 8

    /// The status of an error of the library.
    init(of code: StorageError.Code) {
        self =
            switch code {
            case .notFound, .notAStore: .notFound
            case .busy, .readOnly, .unsupportedFormat, .unusable, .closed, .ioError: .unavailable
            case .corrupt: .corrupt
            case .conflict, .schemaMismatch: .conflict
            case .invalidValue, .invalidName, .limitExceeded, .clockAhead, .database, .invalidArgument: .usage
            default: .inconclusive
            }
    }
}
