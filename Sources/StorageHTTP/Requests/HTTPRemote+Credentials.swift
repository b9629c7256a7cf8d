#if STORAGE_HTTP
    internal import StorageCore

    extension HTTPRemote {
        /// Calls the user's closure that returns credentials, and waits no longer than a request may take and the task
        /// runs. The closure may never return, whatever becomes of its task: nothing else waits for it then.
        ///
        /// - Parameter name: What the user calls the closure.
        /// - Throws: ``HTTPRemoteError`` with `timed-out`; `CancellationError` if the task was cancelled; errors of the
        ///   closure.
        func credentials<Credentials: Sendable>(
            from name: String, _ closure: @escaping @Sendable () async throws -> Credentials
        ) async throws -> Credentials {
            let (answers, answer) = AsyncThrowingStream.makeStream(of: Credentials.self, throwing: (any Error).self)
            // A task group would wait for the closure's end.
            let call = Task {
                do { answer.yield(try await closure()) } catch { answer.finish(throwing: error) }
            }
            let alarm = Task {
                try await Task.sleep(for: timeout.limited)
                answer.finish(throwing: HTTPRemoteError.withoutCredentials(self, from: name))
            }
            defer {
                call.cancel()
                alarm.cancel()
            }
            for try await credentials in answers { return credentials }
            // The stream of a cancelled task ends without an element.
            throw CancellationError()
        }
    }
#endif
