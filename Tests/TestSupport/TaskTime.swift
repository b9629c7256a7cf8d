/// Time that passes only while tasks have their turn, for limits of what must not wait for something long.
///
/// A test that blocks its thread, or a machine that stands still, holds up all others: that says nothing about what is measured.
package final class TaskTime: Sendable {
    private static let step = Duration.milliseconds(100)
    private let steps: Counter
    private let task: Task<Void, any Error>

    package init() {
        let steps = Counter()
        self.steps = steps
        task = Task {
            while true {
                try await Task.sleep(for: TaskTime.step)
                steps.add()
            }
        }
    }

    deinit { task.cancel() }

    /// How long it has been since it was made, without what all tasks have waited.
    package var elapsed: Duration { Self.step * steps.value }
}
