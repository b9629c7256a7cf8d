import Foundation
import TestSupport
import Testing

@testable import StorageSync

/// What happens while something is awaited.
@MainActor @Suite(.timeLimit(.minutes(10))) struct ServiceRemoteTests {
    @Test("Listening again while the streams are opened starts over")
    func listeningTwiceStartsOver() async throws {
        let service = ScriptedService()
        let remote = try await service.remote()
        service.willListen = { call in
            guard call == 1 else { return }
            let isDone = DispatchSemaphore(value: 0)
            Task.detached {
                await remote.setListening(true)
                isDone.signal()
            }
            isDone.wait()
        }
        await remote.setListening(true)
        let time = TaskTime()
        #expect(try await remote.pulledIds() == ["a"])
        #expect(time.elapsed < .seconds(50))
        #expect(service.listenCount == 2)
    }

    @Test("An abandoned fetch is repeated")
    func abandonedFetchIsRepeated() async throws {
        let service = ScriptedService()
        let remote = try await service.remote()
        service.willFetch = { call in
            // Ignores that it is cancelled.
            if call == 1 { await Task { try? await Task.sleep(for: .seconds(30)) }.value }
        }
        await remote.setListening(true)
        let lost = Task { try await remote.pulledIds() }
        try await eventually { service.fetchCount == 1 }
        lost.cancel()
        _ = try await remote.answer(.hello(epoch: 1), knowing: SyncRecord())
        #expect(try await remote.pulledIds() == ["a"])
    }

    @Test("A cancelled pull blocks no other")
    func cancelledPullBlocksNoOther() async throws {
        let service = ScriptedService()
        let remote = try await service.remote()
        let (isFetching, fetch) = AsyncStream<Void>.makeStream()
        // Ignores that it is cancelled.
        service.willFetch = { _ in await Task { for await _ in isFetching {} }.value }
        await remote.setListening(true)
        let lost = Task { try await remote.pulledIds() }
        try await eventually { service.fetchCount == 1 }
        lost.cancel()
        let next = Task { try await remote.pulledIds() }
        // Time for it to wait behind the one that was given up.
        try await Task.sleep(for: .milliseconds(20))
        fetch.finish()
        #expect(try await next.value == ["a"])
        await #expect(throws: CancellationError.self) { try await lost.value }
    }

    @Test("Listening again drops a document that was added, and says so")
    func listeningDropsAddedDocument() async throws {
        let service = ScriptedService()
        let remote = try await service.remote()
        let generation = try await remote.add(Product("b"))
        #expect(await remote.holds("b", behind: 0))
        await remote.setListening(true)
        #expect(await !remote.holds("b", behind: 0))
        #expect(await remote.generation != generation)
        _ = try await remote.pulledIds()
        // Streams may have reported something newer than the added document: it is fetched again, and is gone.
        _ = try await remote.add(Product("b"))
        #expect(await remote.holds("b", behind: 0))
        guard case .page(let page) = try await remote.answer(.pull(line: [], position: 1), knowing: SyncRecord()) else {
            return
        }
        #expect(page.changes.map(\.operation.isDelete) == [true])
    }

    @Test("A document that JSON can't express is reported again if its report may be lost")
    func lostReport() async throws {
        let service = ScriptedService()
        service.collection = [Product("a", price: .infinity)]
        let remote = try await service.remote()
        await remote.setListening(true)
        #expect(try await remote.pulledUnreadableIds() == ["a"])
        _ = try await remote.answer(.hello(epoch: 1), knowing: SyncRecord())
        #expect(try await remote.pulledUnreadableIds() == ["a"])
    }

    /// A poll that was sent with the old credentials may be refused after there are new ones.
    @Test("A stream that is refused too late stops nothing", arguments: [true, false])
    func refusedTooLate(isTold: Bool) async throws {
        let service = ScriptedService()
        let remote = try await service.remote()
        await remote.setListening(true)
        #expect(try await remote.pulledIds() == ["a"])
        if isTold { await remote.credentialsChanged() }
        service.refuseStreams()
        let pull = Task { try await remote.pulledIds(from: 1) }
        if isTold {
            // It listens again, and fetches what may be another collection.
            try await eventually { service.fetchCount == 2 }
            pull.cancel()
        } else {
            await #expect(throws: RemoteError.unauthorized) { try await pull.value }
        }
    }
}

/// A collection whose calls can be held up.
@MainActor
private final class ScriptedService {
    var collection = [Product("a")]
    var willListen: (_ call: Int) -> Void = { _ in }
    var willFetch: (_ call: Int) async -> Void = { _ in }
    private(set) var listenCount = 0
    private(set) var fetchCount = 0
    private var streams: [AsyncThrowingStream<RemoteAccess<Product>.Change, any Error>.Continuation] = []

    /// Ends the streams that are open.
    func refuseStreams() {
        for stream in streams { stream.finish(throwing: RemoteError.unauthorized) }
    }

    func remote() async throws -> ServiceRemote<Product> {
        let access = RemoteAccess<Product>(
            capabilities: .standard, missing: [], path: { "products" }, save: { _ in }, update: { _, _ in },
            delete: { _ in },
            get: { [self] id in
                guard let document = collection.first(where: { $0.id == id }) else { throw RemoteError.notFound }
                return document
            },
            streamDocument: { _ in AsyncThrowingStream { _ in } },
            getAll: { [self] in
                fetchCount += 1
                await willFetch(fetchCount)
                return collection
            },
            find: nil,
            listen: { [self] _, _ in
                listenCount += 1
                willListen(listenCount)
                let (stream, continuation) = AsyncThrowingStream<RemoteAccess<Product>.Change, any Error>.makeStream()
                streams.append(continuation)
                return stream
            })
        let store = SyncStore<Product>(storage: try SyncedShop().storage, manager: "products", path: "products")
        _ = try await store.activate()
        return ServiceRemote(access, store: store, since: 0, document: nil)
    }
}

extension WriteOperation {
    fileprivate var isDelete: Bool { if case .delete = self { true } else { false } }
}

extension ServiceRemote {
    fileprivate func pulledIds(from position: Int64 = 0) async throws -> [String] {
        let answer = try await answer(.pull(line: [], position: position), knowing: SyncRecord())
        guard case .page(let page) = answer else { return [] }
        return page.changes.map(\.document.id)
    }

    fileprivate func pulledUnreadableIds() async throws -> [String] {
        let answer = try await answer(.pull(line: [], position: 0), knowing: SyncRecord())
        guard case .page(let page) = answer else { return [] }
        return page.unreadable.keys.map(\.id)
    }
}
