#if STORAGE_SERVER
    internal import HTTPTypes
    internal import Hummingbird
    internal import NIOHTTP1
    internal import StorageCore
    internal import StorageSync

    extension HubProblem {
        /// The problem for an error. It never contains data of documents.
        init(_ error: any Error) {
            switch error {
            case let problem as HubProblem: self = problem
            case let failure as SyncFailure: self.init(failure)
            case let error as HubError: self.init(error)
            case let malformed as JSONReader.Malformed: self.init(.malformed, "In the body: \(malformed)")
            case is HTTPParserError: self.init(.malformed, "The body isn't encoded as its headers say.")
            case let malformed as QueryItems.Malformed: self.init(.malformed, "\(malformed)")
            case let error as StorageError where error.isOfTheStore:
                self.init(.unavailable, "The store can't be used now. Try again later.")
            default: self.init(.failed, "Something went wrong; see the server's log.")
            }
        }

        private init(_ failure: SyncFailure) {
            switch failure {
            case .sessionEnded(let epoch):
                self.init(
                    .sessionEnded,
                    "The session, or the history that it was begun on, isn't the latest. Start another one with a hello; a stream of changes begins again without Last-Event-ID.",
                    epoch: epoch)
            case .numberReused:
                self.init(
                    .numberReused,
                    "The numbers of the batch were used for other writes, by a copy of the client. Stop, and continue under another producer."
                )
            case .refused(.invalid(let reason)): self.init(.invalid, reason)
            case .refused: self.init(.invalid, "The hub refuses the request as it is.")
            case .unauthorized: self.init(.unauthorized, "A valid token is needed.")
            case .retryable: self.init(.unavailable, "The store can't be used now. Try again later.")
            }
        }

        private init(_ error: HubError) {
            switch error {
            case .notFound: self.init(.notFound, "There is no such document.")
            case .forbidden: self.init(.forbidden, "The token doesn't allow that.")
            case .preconditionFailed:
                self.init(.preconditionFailed, "The document doesn't meet the precondition. Read it, and try again.")
            case .invalid(let reason): self.init(.invalid, reason)
            case .keyReused: self.init(.keyReused, "The idempotency key was used for another request. Use another.")
            case .unrecorded: self.init(.unrecorded, error.reason)
            case .outdatedCondition:
                self.init(
                    .unauthorized,
                    "The token's condition uses a field that was dropped or renamed. Ask for a token with another one."
                )
            }
        }
    }

    extension Response {
        /// A problem as an answer.
        init(_ problem: HubProblem, retryAfterSeconds: Int? = nil) {
            self.init(json: problem.json, status: .init(code: problem.status), type: "application/problem+json")
            if problem.status == 401 { headers[.wwwAuthenticate] = "Bearer realm=\"storagekit\"" }
            if let seconds = retryAfterSeconds ?? (problem.status == 503 ? 2 : nil) {
                headers[.retryAfter] = String(seconds)
            }
            // The rest of the request is still in transit, so the connection can't be reused.
            if [408, 413, 503].contains(problem.status) { headers[.connection] = "close" }
        }

        init(json: [UInt8], status: HTTPResponse.Status = .ok, type: String = "application/json") {
            self.init(
                status: status, headers: [.contentType: type, .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: json)))
        }
    }
#endif
