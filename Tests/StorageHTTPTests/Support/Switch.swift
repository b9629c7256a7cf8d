#if STORAGE_HTTP
    import Synchronization

    /// What a test changes while its server answers.
    final class Switch: Sendable {
        private let state = Mutex(false)

        var isOn: Bool {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    /// What has to wait until a test lets it go on.
    final class Gate: Sendable {
        private let state = Mutex<(isOpen: Bool, waiting: [@Sendable () -> Void])>((false, []))

        /// Runs what waits, and all that comes later at once.
        func open() {
            let waiting = state.withLock { state in
                defer { state = (true, []) }
                return state.waiting
            }
            for body in waiting { body() }
        }

        func whenOpen(_ body: @escaping @Sendable () -> Void) {
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(body) }
                return state.isOpen
            }
            if isOpen { body() }
        }
    }
#endif
