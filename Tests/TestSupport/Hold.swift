import Foundation

/// Keeps something that does one thing after the other from doing anything, so that a test says what it finds when it continues.
package struct Hold: Sendable {
    private let gate = DispatchSemaphore(value: 0)

    /// Returns once it is held.
    ///
    /// - Parameter run: Runs what it is given when its turn comes, and waits for it.
    package init(_ run: @escaping @Sendable (_ body: @Sendable () -> Void) -> Void) async {
        let gate = gate
        await withCheckedContinuation { begun in
            // A thread of its own: those of tasks may all be waiting.
            Thread.detachNewThread {
                run {
                    begun.resume()
                    gate.wait()
                }
            }
        }
    }

    /// To be called once.
    package func end() { gate.signal() }
}
