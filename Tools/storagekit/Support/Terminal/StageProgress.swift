import Synchronization

/// Progress of work in several stages, each with its own bar.
///
/// Isolation: `Sendable`, its bar behind a mutex; work reports from several threads.
final class StageProgress: Sendable {
    private struct State {
        var stage = ""
        var bar: ProgressBar?
    }

    private let state = Mutex(State())
    private let unit: @Sendable (String) -> String

    /// - Parameter unit: Returns the unit that is counted in a stage.
    init(unit: @escaping @Sendable (_ stage: String) -> String) { self.unit = unit }

    func update(_ stage: String, done: Int, of all: Int) {
        state.withLock { state in
            if stage != state.stage {
                state.bar?.finish()
                state.bar = ProgressBar(stage, total: all > 0 ? all : nil, begun: done, unit: unit(stage))
                state.stage = stage
            }
            state.bar?.update(done)
        }
    }

    func finish() {
        state.withLock { state in
            state.bar?.finish()
            state = State()
        }
    }
}
