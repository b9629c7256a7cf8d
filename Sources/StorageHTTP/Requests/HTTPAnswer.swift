#if STORAGE_HTTP
    internal import Foundation
    internal import NIOHTTP1

    /// What a server answered, with its whole body.
    struct HTTPAnswer: Sendable {
        let status: HTTPResponseStatus
        let headers: HTTPHeaders
        let body: Data
        /// Where it came from in the end.
        let target: HTTPTarget
        let wasRedirected: Bool
    }
#endif
