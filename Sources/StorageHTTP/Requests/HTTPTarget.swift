#if STORAGE_HTTP
    internal import Foundation

    /// A URL that may be requested: absolute, http or https, with a host, without user and password.
    ///
    /// The client that sends the request parses the URL with the same `URL`, so both see the same host in it.
    struct HTTPTarget: Equatable, Sendable {
        /// Where header fields may be sent.
        struct Origin: Equatable, Sendable {
            let scheme: String
            let host: String
            let port: Int
        }

        let text: String
        let origin: Origin
        private let url: URL

        /// - Parameter base: The base of a relative reference.
        init?(_ text: String, relativeTo base: HTTPTarget? = nil) {
            // A fragment isn't sent.
            let sent = text.prefix { $0 != "#" }
            guard let url = URL(string: String(sent), relativeTo: base?.url)?.absoluteURL,
                let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
                let host = url.host(percentEncoded: true)?.lowercased(), !host.isEmpty,
                url.user(percentEncoded: true) == nil, url.password(percentEncoded: true) == nil
            else { return nil }
            self.url = url
            self.text = url.absoluteString
            origin = Origin(scheme: scheme, host: host, port: url.port ?? (scheme == "https" ? 443 : 80))
        }

        static func == (a: HTTPTarget, b: HTTPTarget) -> Bool { a.text == b.text }

        /// The form used in errors: without potential secrets.
        static func shown(_ text: String) -> String {
            // An invalid URL may contain anything.
            guard let url = URL(string: text), let scheme = url.scheme, let host = url.host(percentEncoded: true),
                !host.isEmpty
            else { return "The remote's URL" }
            return "\(scheme)://\(host)\(url.port.map { ":\($0)" } ?? "")\(url.path(percentEncoded: true))"
        }
    }
#endif
