public import Observation
internal import Synchronization

/// The state of a fetch, kept up to date while it is referenced: the projected value of ``FetchAll``, ``FetchOne`` and
/// ``Fetch``.
///
/// ```swift
/// try await $items.load()
/// if let error = $items.loadError { print(error) }
/// ```
///
/// Isolation: `Sendable`; its state is guarded by a mutex. SwiftUI and `withObservationTracking` can observe it.
public final class FetchState<Value: Sendable>: Sendable, Observable {
    private struct State {
        var value: Value
        var error: (any Error)?
        var isLoading = true
        /// Reads are numbered as they begin. The result of a read may be older than that of one that began later.
        var lastRead = 0
        /// The number of the read whose result is shown.
        var taken = 0
        var task: Task<Void, Never>?
    }

    private let state: Mutex<State>
    private let registrar = ObservationRegistrar()
    private let body: @Sendable (SQLiteTransaction) throws -> Value
    private let client: SQLiteClient

    init(
        _ value: Value, client: SQLiteClient?, _ body: @escaping @Sendable (SQLiteTransaction) throws -> Value
    ) {
        state = Mutex(State(value: value))
        self.body = body
        @Dependency(\.sqliteClient) var usual
        self.client = client ?? usual
    }

    /// Starts following on the first access. A view creates its properties again each time that its body is evaluated;
    /// all but the first are never read.
    private func start() {
        state.withLock { state in
            guard state.task == nil else { return }
            state.task = HeldTransaction.outside {
                Task { [weak self, client, body] in
                    await client.follow(body) { [weak self] in
                        let number = self?.beginRead() ?? 0
                        return { [weak self] in self?.take($0, ofRead: number) }
                    }
                }
            }
        }
    }

    deinit { state.withLock { $0.task }?.cancel() }

    /// The last fetched value; the initial value before that.
    public var value: Value {
        start()
        registrar.access(self, keyPath: \.value)
        return state.withLock { $0.value }
    }

    /// Why the value isn't up to date; nil if it is.
    public var loadError: (any Error)? {
        start()
        registrar.access(self, keyPath: \.loadError)
        return state.withLock { $0.error }
    }

    /// Whether nothing was fetched yet and there is no error.
    public var isLoading: Bool {
        start()
        registrar.access(self, keyPath: \.isLoading)
        return state.withLock { $0.isLoading }
    }

    /// Reads now, and returns when the result, or a newer one, is available.
    ///
    /// - Throws: Errors of the fetch; the value isn't changed then.
    public func load() async throws {
        start()
        let number = beginRead()
        do { take(.success(try await client.read(body)), ofRead: number) } catch {
            take(.failure(error), ofRead: number)
            throw error
        }
    }

    private func beginRead() -> Int {
        state.withLock {
            $0.lastRead += 1
            return $0.lastRead
        }
    }

    private func take(_ result: Result<Value, any Error>, ofRead number: Int) {
        registrar.willSet(self, keyPath: \.value)
        registrar.willSet(self, keyPath: \.loadError)
        registrar.willSet(self, keyPath: \.isLoading)
        state.withLock {
            guard number > $0.taken else { return }
            $0.taken = number
            switch result {
            case .success(let value): ($0.value, $0.error) = (value, nil)
            case .failure(let error): $0.error = error
            }
            $0.isLoading = false
        }
        registrar.didSet(self, keyPath: \.value)
        registrar.didSet(self, keyPath: \.loadError)
        registrar.didSet(self, keyPath: \.isLoading)
    }
}
