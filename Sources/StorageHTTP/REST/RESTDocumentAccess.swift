#if STORAGE_HTTP
    internal import Foundation
    internal import StorageCore
    internal import StorageSync

    /// The documents of a REST service below a path: the common part of both remotes.
    @MainActor
    final class RESTDocumentAccess<T: DataSyncModelProtocol> {
        let client: RESTClient
        let path: @MainActor @Sendable () -> String?
        /// The last fetched state of documents, for conditional writes.
        private var states: [String: State] = [:]

        private enum State {
            case tag(String)
            case absent
        }

        /// The maximum number of states: they are needed from a fetch until the write after it.
        private static var maximumStates: Int { 1_000 }

        nonisolated init(_ configuration: RESTConfiguration, path: @escaping @MainActor @Sendable () -> String?) {
            client = RESTClient(configuration: configuration)
            self.path = path
        }

        var configuration: RESTConfiguration { client.configuration }

        /// - Throws: ``RemoteError/unauthorized`` while no user is signed in.
        func collection() throws -> String {
            guard let path = path() else { throw RemoteError.unauthorized }
            return path
        }

        func get(_ id: String) async throws -> T {
            let collection = try collection()
            do {
                // Without a validator there is always a document.
                guard let document = try await client.document(T.self, id, in: collection) else {
                    throw RemoteError.notFound
                }
                note(document.tag.map(State.tag), of: id, in: collection)
                return document.value
            } catch RemoteError.notFound {
                note(.absent, of: id, in: collection)
                throw RemoteError.notFound
            }
        }

        func save(_ document: T) async throws {
            let collection = try collection()
            let conditions = conditions(of: document.id, in: collection)
            try await client.save(document, in: collection, conditions: conditions)
        }

        func update(_ id: String, _ fields: [String: any DMCodableSendable]) async throws {
            guard let method = configuration.updateMethod else {
                throw RemoteError.rejected("the service can't change single fields")
            }
            let collection = try collection()
            let conditions = conditions(of: id, in: collection)
            try await client.update(id, fields: fields, in: collection, by: method, conditions: conditions)
        }

        func delete(_ id: String) async throws {
            let collection = try collection()
            let conditions = conditions(of: id, in: collection)
            do {
                try await client.delete(id, in: collection, conditions: conditions)
            } catch RemoteError.notFound {}
        }

        private func note(_ state: State?, of id: String, in collection: String) {
            guard configuration.usesEntityTags else { return }
            if states.count >= Self.maximumStates { states = [:] }
            states["\(collection)/\(id)"] = state
        }

        /// The header fields of the current write's precondition. They are used once: the write changes the document's
        /// tag.
        private func conditions(of id: String, in collection: String) -> [String: String] {
            let state = states.removeValue(forKey: "\(collection)/\(id)")
            guard RemoteWrite.current?.isConditional == true else { return [:] }
            // Weak tags don't say whether two documents are byte-for-byte identical (RFC 9110, section 13.1.1).
            return switch state {
            case .tag(let tag) where !tag.hasPrefix("W/"): ["If-Match": tag]
            case .absent: ["If-None-Match": "*"]
            case .tag, nil: [:]
            }
        }
    }

    // MARK: Streams

    extension RESTDocumentAccess {
        /// A document's current state, and each change found by polling. Without an interval only the first.
        func stream(_ id: String) -> AsyncThrowingStream<T?, any Error> {
            let (stream, continuation) = AsyncThrowingStream.makeStream(of: T?.self, throwing: (any Error).self)
            let interval = configuration.pollingInterval
            let task = Task {
                do {
                    let collection = try collection()
                    var last = try await poll(id, in: collection, behind: nil)
                    continuation.yield(last?.value)
                    while let interval {
                        try await Task.sleep(for: interval.limited)
                        let found = try await poll(id, in: collection, behind: last)
                        guard found?.json != last?.json else {
                            last = found
                            continue
                        }
                        last = found
                        continuation.yield(found?.value)
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
            return stream
        }

        private struct Polled {
            let value: T
            let json: Data
            let validator: String?
        }

        /// - Returns: nil if there is no document.
        private func poll(_ id: String, in collection: String, behind last: Polled?) async throws -> Polled? {
            do {
                let found = try await client.document(T.self, id, in: collection, validator: last?.validator)
                guard let found else { return last }
                return Polled(
                    value: found.value, json: try DocumentJSON.data(found.value), validator: found.validator)
            } catch RemoteError.notFound {
                return nil
            }
        }
    }
#endif
