/// Why a replay stands where it stands.
enum ReplayStop: Equatable {
    /// As many events or commits were passed as were asked for.
    case step
    /// A condition was true of the event at a position.
    case condition(String, at: Int64)
    /// An event couldn't be applied; the error.
    case failure(String, at: Int64)
    /// There is nothing more in the range, on this side.
    case end, beginning
    /// It went to a point that was named.
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

    /// Whether something was found that was looked for.
    var isBreak: Bool {
        switch self {
        case .condition, .failure: true
        default: false
        }
    }
}
