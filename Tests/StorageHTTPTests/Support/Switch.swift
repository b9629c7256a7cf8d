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
#endif
