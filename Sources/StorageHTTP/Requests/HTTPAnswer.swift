#if STORAGE_HTTP
    internal import Foundation
    internal import NIOHTTP1

    /// A server's answer, with its complete body.
    struct HTTPAnswer: Sendable {
        let status: HTTPResponseStatus
        let headers: HTTPHeaders
        let body: Data
        /// The final URL.
        let target: HTTPTarget
        let wasRedirected: Bool
    }
#endif
