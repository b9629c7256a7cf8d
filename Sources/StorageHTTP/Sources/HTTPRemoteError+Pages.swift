#if STORAGE_HTTP
    internal import Foundation

    /// The failures of decoding an answer.
    extension HTTPRemoteError {
        static func badLink(_ remote: HTTPRemote, _ what: String) -> HTTPRemoteError {
            HTTPRemoteError(
                .badLink, "The link to the next page of \(HTTPTarget.shown(remote.url)) \(what).",
                remedy: "Have the server link to pages at the remote's own scheme, host and port, each once.")
        }

        static func undecodable(_ remote: HTTPRemote, _ error: any Error) -> HTTPRemoteError {
            HTTPRemoteError(
                .undecodable, "What \(HTTPTarget.shown(remote.url)) answers can't be decoded: \(location(error)).",
                remedy: "Compare the answer with the type that is decoded, or give the remote a decoder that fits.")
        }

        private static func location(_ error: any Error) -> String {
            switch error as? DecodingError {
            case .typeMismatch(let type, let context): "\(path(context.codingPath)) isn't of type \(type)"
            case .valueNotFound(let type, let context):
                "\(path(context.codingPath)) is null where a \(type) is expected"
            case .keyNotFound(let key, let context): "\(path(context.codingPath)) has no \(name(key))"
            case .dataCorrupted(let context): "\(path(context.codingPath)) isn't well formed"
            case nil: "the closure that decodes pages threw an error of type \(type(of: error))"
            @unknown default: "its structure differs"
            }
        }

        private static func path(_ keys: [any CodingKey]) -> String {
            guard !keys.isEmpty else { return "the document" }
            return keys.reduce(into: "$") { text, key in
                text += index(key).map { "[\($0)]" } ?? ".\(name(key))"
            }
        }

        /// The index in an array; nil for integer keys of a dictionary, which are formatted differently.
        private static func index(_ key: any CodingKey) -> Int? {
            key.intValue.flatMap { key.stringValue == "Index \($0)" ? $0 : nil }
        }

        /// The name of a property. Keys of dictionaries are part of the body, so they aren't named: only the cases of
        /// an enum without values were written by the program's author.
        private static func name(_ key: any CodingKey) -> String {
            let mirror = Mirror(reflecting: key)
            return mirror.displayStyle == .enum && mirror.children.isEmpty ? key.stringValue : "*"
        }
    }
#endif
