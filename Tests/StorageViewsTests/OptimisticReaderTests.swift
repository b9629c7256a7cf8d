import StorageCore
import StorageLog
import Synchronization
import Testing

@testable import StorageViews

/// When a reader of pending changes reads again.
@Suite(.timeLimit(.minutes(10))) struct OptimisticReaderTests {
    /// A store whose value is its position, and in which something happens while it is read.
    private final class Store: Sendable {
        private struct State {
            var position: Int64 = 1
            var rings: [@Sendable () -> Void] = []
            var reads = 0
            /// Commits that come while the next reads look at an earlier state.
            var commitsInReads = 0
        }

        private let state = Mutex(State())
        private let confirmed = AsyncStream<Void>.makeStream()

        var reads: Int { state.withLock { $0.reads } }

        func commit() {
            let rings = state.withLock { state in
                state.position += 1
                return state.rings
            }
            for ring in rings { ring() }
        }

        func commitInReads(_ count: Int) { state.withLock { $0.commitsInReads = count } }

        func source() -> LiveValueSource<Int64> {
            let confirmed = confirmed.stream
            return LiveValueSource<Int64>(
                // What is confirmed never changes.
                next: { [first = First()] () async throws(StorageError) -> PositionedValue<Int64>? in
                    if first.take() { return (0, 0) }
                    for await _ in confirmed {}
                    return nil
                },
                read: { [self] _, known in
                    let (position, commits) = state.withLock { state in
                        defer { state.commitsInReads = max(0, state.commitsInReads - 1) }
                        state.reads += 1
                        return (state.position, state.commitsInReads > 0)
                    }
                    if commits { commit() }
                    return (known.map { position > $0 } ?? true ? position : nil, position)
                },
                onCommit: { [self] ring in
                    state.withLock { $0.rings.append(ring) }
                    return StorageObservation {}
                })
        }
    }

    private final class First: Sendable {
        private let isFirst = Mutex(true)

        func take() -> Bool {
            isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
        }
    }

    @Test("A commit that comes while a value is read is read for, however many follow")
    func commitsDuringReads() async throws {
        let (store, changes) = (Store(), OptimisticChangeRegistry())
        let reader = OptimisticReader(store.source(), changes, of: nil) { _ in }
        #expect(try await reader.next()?.value == 0)
        _ = changes.begin([])
        store.commitInReads(5)
        // The value of each read lacks the commit that came during it.
        for position in Int64(1)...6 { #expect(try await reader.next()?.value == position) }
        store.commit()
        #expect(try await reader.next()?.value == 7)
    }

    @Test("A reader that waits is woken by a commit, and reads for it once")
    func commitsWhileWaiting() async throws {
        let (store, changes) = (Store(), OptimisticChangeRegistry())
        let reader = OptimisticReader(store.source(), changes, of: nil) { _ in }
        #expect(try await reader.next()?.value == 0)
        _ = changes.begin([])
        #expect(try await reader.next()?.value == 1)
        let next = Task { try await reader.next()?.value }
        store.commit()
        #expect(try await next.value == 2)
        #expect(store.reads == 2)
    }
}
