package import StorageCore

/// Why a hub has refused a request, as reported over HTTP. Never contains document data.
///
/// Source: RFC 9457.
package struct HubProblem: Error, HubMessage, Sendable, Equatable {
    package enum Code: String, Sendable, CaseIterable {
        case malformed
        case unauthorized
        case forbidden
        case notFound = "not-found"
        case methodNotAllowed = "method-not-allowed"
        case timedOut = "timed-out"
        /// Another session of the producer has begun, or the client knows another history than the hub's.
        case sessionEnded = "session-ended"
        /// The idempotency key was used for another request.
        case keyReused = "key-reused"
        /// The numbers of a batch were used for other writes.
        case numberReused = "number-reused"
        /// Another program has written the document, or a row that this write also changes, bypassing the hub's log.
        case unrecorded
        case preconditionFailed = "precondition-failed"
        case tooLarge = "too-large"
        /// The request used a host name that isn't the hub's.
        case misdirected
        case unsupportedMediaType = "unsupported-media-type"
        /// What was sent can't be stored.
        case invalid
        case tooManyRequests = "too-many-requests"
        case failed
        /// The hub can't answer now.
        case unavailable
    }

    package let status: Int
    /// A value of ``Code``, unless the hub is newer than the reader.
    package let code: String
    package let title: String
    /// What happened, and what to do.
    package let detail: String
    /// The epoch of the producer's latest session, if that has ended the one that asks.
    package let epoch: Int64?

    package init(_ code: Code, _ detail: String, epoch: Int64? = nil) {
        status = code.status
        self.code = code.rawValue
        title = code.title
        self.detail = detail
        self.epoch = epoch
    }

    package init(from json: inout JSONReader) throws {
        var status: Int64?
        var (code, title, detail): (String?, String?, String?)
        var epoch: Int64?
        try json.object { key, json in
            switch key {
            case "status": status = try json.integer()
            case "code": code = try json.string()
            case "title": title = try json.string()
            case "detail": detail = try json.string()
            case "epoch": epoch = try json.integer()
            default: try json.ignore()
            }
        }
        self.status = Int(try json.required(status, "status"))
        self.code = try json.required(code, "code")
        self.title = title ?? ""
        self.detail = detail ?? ""
        self.epoch = epoch
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.integer(Int64(status), for: "status")
            json.text(code, for: "code")
            json.text(title, for: "title")
            json.text(detail, for: "detail")
            if let epoch { json.integer(epoch, for: "epoch") }
        }
    }
}

extension HubProblem.Code {
    package var status: Int {
        switch self {
        case .malformed: 400
        case .unauthorized: 401
        case .forbidden: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .timedOut: 408
        case .sessionEnded, .keyReused, .numberReused, .unrecorded: 409
        case .preconditionFailed: 412
        case .tooLarge: 413
        case .unsupportedMediaType: 415
        case .misdirected: 421
        case .invalid: 422
        case .tooManyRequests: 429
        case .failed: 500
        case .unavailable: 503
        }
    }

    fileprivate var title: String {
        switch self {
        case .malformed: "The request can't be read"
        case .unauthorized: "A valid token is needed"
        case .forbidden: "The token doesn't allow that"
        case .notFound: "Not found"
        case .methodNotAllowed: "The resource doesn't support this method"
        case .timedOut: "The request took too long"
        case .sessionEnded: "The session has ended"
        case .keyReused: "The idempotency key was used for another request"
        case .numberReused: "The numbers were used for other writes"
        case .unrecorded: "The document isn't in the hub's log"
        case .preconditionFailed: "The document doesn't meet the precondition"
        case .tooLarge: "The request is too large"
        case .unsupportedMediaType: "The body's media type isn't supported"
        case .misdirected: "The hub isn't known by this name"
        case .invalid: "What was sent can't be stored"
        case .tooManyRequests: "Too many requests"
        case .failed: "The server has failed"
        case .unavailable: "The server can't answer now"
        }
    }
}
