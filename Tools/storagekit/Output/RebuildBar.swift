import StorageProjections
import Synchronization

/// The progress of a rebuild on standard error.
///
/// Isolation: `Sendable`, the bar behind a mutex; a rebuild tells of itself from several threads.
final class RebuildBar: Sendable {
    private let bar = Mutex<ProgressBar?>(nil)

    func show(_ progress: RebuildProgress) {
        bar.withLock { bar in
            guard progress.phase == .reading else {
                bar?.finish()
                bar = nil
                return
            }
            let shown = bar ?? ProgressBar("rebuild", total: Int(progress.total), unit: "events")
            bar = shown
            shown.update(Int(progress.completed))
        }
    }

    func finish() {
        bar.withLock { bar in
            bar?.finish()
            bar = nil
        }
    }
}
