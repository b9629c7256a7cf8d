#if STORAGE_SERVER
    import Foundation
    import HTTPTypes
    import Hummingbird
    import Logging
    import StorageKit

    /// Every commit of a request carries who made the request, and the request's id.
    ///
    /// The user is what the proxy in front of the service, which has checked the password or token, says in `X-User`. Whoever
    /// changes something needs one; a request without an id gets one, and every answer has it.
    struct CommitMiddleware: RouterMiddleware {
        typealias Context = BasicRequestContext

        func handle(
            _ request: Request, context: Context, next: (Request, Context) async throws -> Response
        ) async throws -> Response {
            let user = request.headers[.user]
            guard user != nil || request.method == .get else {
                throw HTTPError(.unauthorized, message: "X-User names who makes the change.")
            }
            let id = request.headers[.requestID] ?? UUID().uuidString
            return try await CommitContext.$actor.withValue(user) {
                try await CommitContext.$app.withValue("tickets") {
                    try await CommitContext.$correlation.withValue(id) {
                        var response = try await next(request, context)
                        response.headers[.requestID] = id
                        return response
                    }
                }
            }
        }
    }

    /// An error of the store as an answer: what it says is for the client where the client's values are to blame.
    struct ErrorMiddleware: RouterMiddleware {
        typealias Context = BasicRequestContext

        func handle(
            _ request: Request, context: Context, next: (Request, Context) async throws -> Response
        ) async throws -> Response {
            do {
                return try await next(request, context)
            } catch let error as StorageError {
                switch error.code {
                case .invalidValue, .invalidArgument, .limitExceeded:
                    throw HTTPError(.badRequest, message: error.message)
                case .conflict: throw HTTPError(.conflict, message: error.message)
                case .notFound: throw HTTPError(.notFound, message: error.message)
                default:
                    context.logger.error("\(error)")
                    throw HTTPError(.internalServerError)
                }
            }
        }
    }

    extension HTTPField.Name {
        static let user = HTTPField.Name("X-User")!
        static let requestID = HTTPField.Name("X-Request-Id")!
    }
#endif
