internal import StorageCore

/// Documents in memory, and their listeners: the common part of both mocks.
@MainActor
final class MockRemote<T: DataSyncModelProtocol> {
    private(set) var documents: [T]
    private(set) var writes: [MockRemoteWrite<T>] = []
    var failure: (any Error)? { didSet { if let failure { failListeners(failure) } } }
    let path: @MainActor @Sendable () -> String?
    private let delay: Duration

    private var lastListener = 0
    private var documentListeners: [Int: (id: String, stream: AsyncThrowingStream<T?, any Error>.Continuation)] = [:]
    private var updateListeners: [Int: AsyncThrowingStream<T, any Error>.Continuation] = [:]
    private var deletionListeners: [Int: AsyncThrowingStream<String, any Error>.Continuation] = [:]

    nonisolated init(_ documents: [T], path: @escaping @MainActor @Sendable () -> String?, delay: Duration) {
        self.documents = documents
        self.path = path
        self.delay = delay
    }

    /// Returns when the remote answers.
    func answer() async throws {
        if delay > .zero { try await Task.sleep(for: delay.limited) }
        if let refusal { throw refusal }
    }

    /// Why every call fails; nil if none does.
    private var refusal: (any Error)? { failure ?? (path() == nil ? RemoteError.unauthorized : nil) }

    private func index(of id: String) -> Int? { documents.firstIndex { $0.id == id } }

    func document(_ id: String) -> T? { index(of: id).map { documents[$0] } }

    func found(_ id: String) throws -> T {
        guard let document = document(id) else { throw RemoteError.notFound }
        return document
    }
}

// MARK: Writes

extension MockRemote {
    func save(_ model: T) {
        writes.append(.save(model))
        change(model)
    }

    func update(_ id: String, _ data: [String: any DMCodableSendable]) throws {
        writes.append(.update(id: id, fields: data.keys.sorted()))
        change(try merged(try found(id), data))
    }

    func delete(_ id: String) {
        writes.append(.delete(id: id))
        remove(id)
    }

    func change(_ model: T) {
        if let index = index(of: model.id) { documents[index] = model } else { documents.append(model) }
        for listener in documentListeners.values where listener.id == model.id { listener.stream.yield(model) }
        for stream in updateListeners.values { stream.yield(model) }
    }

    func remove(_ id: String) {
        guard let index = index(of: id) else { return }
        documents.remove(at: index)
        for listener in documentListeners.values where listener.id == id { listener.stream.yield(nil) }
        for stream in deletionListeners.values { stream.yield(id) }
    }

    private func merged(_ document: T, _ data: [String: any DMCodableSendable]) throws -> T {
        let result: T
        do {
            guard case .object(var fields) = try JSONValue(encoding: document) else {
                throw RemoteError.rejected("a \(T.self) isn't written as a JSON object")
            }
            for (name, value) in data {
                let json = try JSONValue(encoding: value)
                fields[name] = json == .null ? nil : json
            }
            result = try JSONValue.object(fields).decoded()
        } catch let error as RemoteError {
            throw error
        } catch {
            throw RemoteError.rejected("\(error)")
        }
        guard result.id == document.id else { throw RemoteError.rejected("an update can't change a document's id") }
        return result
    }
}

// MARK: Streams

extension MockRemote {
    /// The number of open streams.
    var listenerCount: Int { documentListeners.count + updateListeners.count + deletionListeners.count }

    func streamDocument(_ id: String) -> AsyncThrowingStream<T?, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: T?.self, throwing: (any Error).self)
        let listener = register(continuation) { $0.documentListeners[$1] = nil }
        guard let listener else { return stream }
        documentListeners[listener] = (id, continuation)
        continuation.yield(document(id))
        return stream
    }

    func streamUpdates() -> AsyncThrowingStream<T, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: T.self, throwing: (any Error).self)
        if let listener = register(continuation, { $0.updateListeners[$1] = nil }) {
            updateListeners[listener] = continuation
        }
        return stream
    }

    func streamDeletions() -> AsyncThrowingStream<String, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: String.self, throwing: (any Error).self)
        if let listener = register(continuation, { $0.deletionListeners[$1] = nil }) {
            deletionListeners[listener] = continuation
        }
        return stream
    }

    /// - Parameter end: Called when the reader ends the stream.
    /// - Returns: The listener's number; nil if the stream has already failed.
    private func register<Element>(
        _ continuation: AsyncThrowingStream<Element, any Error>.Continuation,
        _ end: @escaping @MainActor @Sendable (MockRemote, Int) -> Void
    ) -> Int? {
        if let refusal {
            continuation.finish(throwing: refusal)
            return nil
        }
        lastListener += 1
        let listener = lastListener
        continuation.onTermination = { [weak self] _ in
            // Called on any thread.
            Task { @MainActor [weak self] in if let self { end(self, listener) } }
        }
        return listener
    }

    private func failListeners(_ error: any Error) {
        for listener in documentListeners.values { listener.stream.finish(throwing: error) }
        for stream in updateListeners.values { stream.finish(throwing: error) }
        for stream in deletionListeners.values { stream.finish(throwing: error) }
        (documentListeners, updateListeners, deletionListeners) = ([:], [:], [:])
    }
}
