#if STORAGE_HTTP
    internal import AsyncHTTPClient
    internal import Foundation
    internal import NIOCore
    internal import NIOHTTP1
    internal import NIOPosix
    internal import NIOSSL

    /// The failures of an exchange. Their texts consist of the remote's URL and fixed words, never of received data.
    extension HTTPRemoteError {
        static func invalidURL(_ remote: HTTPRemote) -> HTTPRemoteError {
            HTTPRemoteError(
                .invalidRequest, "\(HTTPTarget.shown(remote.url)) can't be asked.",
                remedy:
                    "Give an absolute http or https URL without user and password; those belong in an Authorization header."
            )
        }

        static func status(_ remote: HTTPRemote, _ answer: HTTPAnswer, now: Date) -> HTTPRemoteError {
            status(remote, Int(answer.status.code), retryAfter: RetryAfter.wait(answer.headers, now: now))
        }

        static func status(_ remote: HTTPRemote, _ code: Int, retryAfter: Duration? = nil) -> HTTPRemoteError {
            // The standard's phrase: the server's own is a part of its answer.
            let reason = HTTPResponseStatus(statusCode: code).reasonPhrase
            let remedy =
                switch code {
                case 401, 403: "Check the credentials in the remote's headers."
                case 404, 410: "Check the remote's URL."
                case 429: "Ask less often, or for more rows at a time."
                case 304: "Have the server answer 304 to requests with a condition only."
                case 200..<300: "Have the server answer 200 with rows."
                case 300..<400: "Give the remote the URL of the rows."
                case 400..<500: "Check the remote's URL and headers."
                default: "The server failed: try again later, or fix the server."
                }
            return HTTPRemoteError(
                .status, "\(HTTPTarget.shown(remote.url)) answers \(code)\(reason.isEmpty ? "" : " \(reason)").",
                remedy: remedy, status: code, retryAfter: retryAfter)
        }

        static func timedOut(_ remote: HTTPRemote) -> HTTPRemoteError {
            HTTPRemoteError(
                .timedOut,
                "\(HTTPTarget.shown(remote.url)) hasn't answered completely after \(remote.timeout.formatted).",
                remedy: "Ask for smaller pages, or raise the remote's timeout.")
        }

        static func silent(_ remote: HTTPRemote) -> HTTPRemoteError {
            HTTPRemoteError(
                .timedOut, "\(HTTPTarget.shown(remote.url)) hasn't sent anything for \(remote.timeout.formatted).",
                remedy: "Check that the server runs and can be reached.")
        }

        /// - Parameter name: What the user calls the closure that hasn't returned.
        static func withoutCredentials(_ remote: HTTPRemote, from name: String) -> HTTPRemoteError {
            HTTPRemoteError(
                .timedOut,
                "The \(name) closure for \(HTTPTarget.shown(remote.url)) hasn't returned after \(remote.timeout.formatted).",
                remedy: "Limit the time of what the closure waits for.")
        }

        static func notOfHub(_ remote: HTTPRemote) -> HTTPRemoteError {
            HTTPRemoteError(
                .undecodable, "What \(HTTPTarget.shown(remote.url)) answers isn't a hub's answer.",
                remedy: "Check the hub's URL, and any proxy between.")
        }

        static func redirect(_ remote: HTTPRemote, _ what: String) -> HTTPRemoteError {
            HTTPRemoteError(
                .badRedirect, "\(HTTPTarget.shown(remote.url)) redirects \(what).",
                remedy: "Give the remote the URL of the rows.")
        }

        static func tooLarge(_ remote: HTTPRemote) -> HTTPRemoteError {
            HTTPRemoteError(
                .tooLarge, "\(HTTPTarget.shown(remote.url)) answers with more than \(remote.maximumBytes) bytes.",
                remedy: "Ask for smaller pages, or raise the remote's maximumBytes.")
        }

        static func encoded(_ remote: HTTPRemote) -> HTTPRemoteError {
            HTTPRemoteError(
                .undecodable,
                "\(HTTPTarget.shown(remote.url)) answers with a compressed body, which it wasn't asked for.",
                remedy: "Make the server respect Accept-Encoding.")
        }

        static func cutOff(_ remote: HTTPRemote, _ cause: any Error) -> HTTPRemoteError {
            HTTPRemoteError(
                .cutOff, "\(HTTPTarget.shown(remote.url)) ended the connection before its answer was complete.",
                remedy: "Check the server and the network between.", cause: cause)
        }

        static func connection(_ remote: HTTPRemote, _ error: any Error) -> HTTPRemoteError {
            let url = HTTPTarget.shown(remote.url)
            switch error {
            case HTTPParserError.invalidEOFState: return .cutOff(remote, error)
            case is HTTPParserError:
                return HTTPRemoteError(
                    .undecodable, "What \(url) answers isn't HTTP.",
                    remedy: "Check the remote's URL, the port above all.", cause: error)
            case let error as HTTPClientError where error == .remoteConnectionClosed: return .cutOff(remote, error)
            case let error as HTTPClientError where connectTimeouts.contains(error): return .unconnected(remote, error)
            case let error as IOError where [ECONNRESET, EPIPE].contains(error.errnoCode): return .cutOff(remote, error)
            case ChannelError.connectTimeout: return .unconnected(remote, error)
            case let error as NIOSSLExtraError where error == .failedToValidateHostname:
                return .untrusted(remote, because: "belongs to another host", cause: error)
            case NIOSSLError.handshakeFailed(.sslError(let errors)) where errors.contains(where: isDistrust):
                return .untrusted(
                    remote, because: "has expired, or isn't signed by an authority that the client trusts", cause: error
                )
            case let error as HTTPClientError:
                // The error itself may contain header fields, so only its kind is named.
                return HTTPRemoteError(
                    .invalidRequest, "\(url) can't be requested: \(error.shortDescription.lowercased()).",
                    remedy: "Check the remote's URL and headers, and its client's configuration.")
            default:
                return HTTPRemoteError(
                    .connectionFailed, "Can't connect to \(url).\(reason(error))",
                    remedy: "Check that the server runs and can be reached.", cause: error)
            }
        }

        private static let connectTimeouts: [HTTPClientError] = [
            .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout, .httpProxyHandshakeTimeout,
            .socksHandshakeTimeout,
        ]

        private static func unconnected(_ remote: HTTPRemote, _ cause: any Error) -> HTTPRemoteError {
            HTTPRemoteError(
                .timedOut,
                "Can't connect to \(HTTPTarget.shown(remote.url)) within \(remote.client.connectTimeout.formatted).",
                remedy: "Check that the server runs and can be reached, or raise the client's connectTimeout.",
                cause: cause)
        }

        private static func untrusted(
            _ remote: HTTPRemote, because why: String, cause: any Error
        ) -> HTTPRemoteError {
            HTTPRemoteError(
                .untrusted, "The certificate of \(HTTPTarget.shown(remote.url)) \(why).",
                remedy: "Check the remote's URL; an authority of your own belongs in the client's tlsConfiguration.",
                cause: cause)
        }

        /// BoringSSL's errors differ only by their texts.
        private static func isDistrust(_ error: BoringSSLInternalError) -> Bool {
            error.description.contains("CERTIFICATE_VERIFY_FAILED")
        }

        private static func reason(_ error: any Error) -> String {
            switch error {
            case let error as IOError: return " The system says: \(String(cString: strerror(error.errnoCode)))."
            case let error as NIOConnectionError:
                if let failure = error.connectionErrors.first { return reason(failure.error) }
                return error.dnsAError != nil || error.dnsAAAAError != nil ? " Its name isn't known." : ""
            default: return ""
            }
        }
    }

    extension Duration {
        var formatted: String {
            let seconds = self / .seconds(1)
            return seconds == seconds.rounded() && abs(seconds) < 1e15 ? "\(Int64(seconds)) s" : "\(seconds) s"
        }
    }
#endif
