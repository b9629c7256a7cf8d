/// Why a replay has stopped.
enum ReplayStop: Equatable {
    /// The requested number of events or commits was passed.
    case step
    /// A condition was true for the event at a position.
    case condition(String, at: Int64)
    /// An event couldn't be applied; the error.
    case failure(String, at: Int64)
    /// The end or the beginning of the range was reached.
    case end, beginning
    /// It has moved to a requested point.
    case point

    var name: String {
        switch self {
        case .step: "step"
        case .condition: "break"
        case .failure: "error"
        case .end: "end"
        case .beginning: "beginning"
        case .point: "point"
        }
    }

    /// Whether a breakpoint or an error has stopped it.
    var isBreak: Bool {
        switch self {
        case .condition, .failure: true
        default: false
        }
    }
}
