/// Two points, and the tables and rows whose differences are shown.
struct DifferenceRequest: Equatable, Sendable {
    var from: PointArgument
    var to: PointArgument
    var targets: [TargetArgument] = []
}
