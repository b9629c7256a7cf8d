/// What a contender's steps share.
final class StateBox<State> {
    var state: State?

    var prepared: State {
        get throws {
            guard let state else { throw BenchmarkError("A contender was run before it was prepared.") }
            return state
        }
    }
}
