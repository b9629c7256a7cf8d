internal import Dispatch

/// The rows that a view shows. Many of them are deallocated on another thread, as a million keep a thread for 50 ms.
///
/// Isolation: its owner's, the main actor.
final class ShownRows<Update: SteppedUpdate> {
    /// How many rows are deallocated where the last reference ends. It takes less than 0.1 ms.
    private static var smallCount: Int { 1_000 }

    var value: Update.Whole

    init(_ value: Update.Whole) { self.value = value }

    deinit {
        guard Update.rowCount(of: value) > Self.smallCount else { return }
        // Sound: when the other thread begins, nothing here refers to the rows any more.
        nonisolated(unsafe) let rows = Unmanaged.passRetained(Rows(value))
        value = Update.Whole()
        DispatchQueue.global(qos: .utility).async { rows.release() }
    }

    private final class Rows {
        let value: Update.Whole
        init(_ value: Update.Whole) { self.value = value }
    }
}
