package import Dispatch

/// A value that another thread computes while this one does something else.
///
/// Isolation: sound as `@unchecked Sendable`, because the queue alone uses the properties until it signals, and ``wait()``, which is
/// called once, after that.
package final class BackgroundResult<Value>: @unchecked Sendable {
    private var body: (() throws -> Value)?
    // Not a `Result`, whose type would be looked up at run time for each type of value, at a cost like that of a hundred events.
    private var value: Value?
    private var error: (any Error)?
    private let isDone = DispatchSemaphore(value: 0)

    /// Calls `body` on a queue. What it captures must not be used elsewhere until ``wait()`` returns.
    package init(on queue: DispatchQueue, _ body: @escaping () throws -> Value) {
        self.body = body
        queue.async { self.run() }
    }

    private func run() {
        do {
            value = try body!()
        } catch {
            self.error = error
        }
        // What it has captured may be in the value, too, which its user should be able to change in place.
        body = nil
        isDone.signal()
    }

    /// Waits for the value. Call it once.
    package func wait() throws -> Value {
        isDone.wait()
        if let error { throw error }
        defer { value = nil }
        return value!
    }
}
