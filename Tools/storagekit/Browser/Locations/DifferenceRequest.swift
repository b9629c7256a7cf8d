/// Two points, and of what the difference between them is shown.
struct DifferenceRequest: Equatable, Sendable {
    var from: PointArgument
    var to: PointArgument
    var targets: [TargetArgument] = []
}
