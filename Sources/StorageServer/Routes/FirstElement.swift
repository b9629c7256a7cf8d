#if STORAGE_SERVER
    internal import Synchronization

    /// What a stream sends first. It is released once it is sent: a stream lives long, and what comes first is large.
    ///
    /// Isolation: `Sendable`, the element behind a mutex.
    final class FirstElement<Element: Sendable>: Sendable {
        private let element: Mutex<Element?>

        init(_ element: Element?) { self.element = Mutex(element) }

        var isThere: Bool { element.withLock { $0 != nil } }

        func take() -> Element? {
            element.withLock { element in
                defer { element = nil }
                return element
            }
        }
    }
#endif
