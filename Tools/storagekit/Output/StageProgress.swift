import Foundation

/// Progress of work that goes through stages, each with a bar of its own.
///
/// Isolation: `@unchecked Sendable`, because every use of its state is behind the lock.
final class StageProgress: @unchecked Sendable {
    private let lock = NSLock()
    private let unit: @Sendable (String) -> String
    private var stage = ""
    private var bar: ProgressBar?

    /// - Parameter unit: What is counted in a stage.
    init(unit: @escaping @Sendable (_ stage: String) -> String) { self.unit = unit }

    func update(_ stage: String, _ done: Int, _ all: Int) {
        lock.withLock {
            if stage != self.stage {
                bar?.finish()
                bar = ProgressBar(stage, total: all > 0 ? all : nil, unit: unit(stage))
                self.stage = stage
            }
            bar?.update(done)
        }
    }

    func finish() {
        lock.withLock {
            bar?.finish()
            bar = nil
            stage = ""
        }
    }
}
