import StorageCore
import StorageSync

/// A message of a client: a request, or a notification, which has no id.
struct MCPMessage: Sendable {
    /// The id as JSON; nil for a notification.
    let id: String?
    /// Nil for a response; this server sends no requests.
    let method: String?
    /// The members of `params` as JSON.
    let parameters: [String: String]

    /// - Parameter json: One value.
    /// - Throws: ``Rejection``.
    init(_ json: String) throws {
        let members: [String: String]
        do {
            members = try Self.members(of: json)
        } catch {
            throw Rejection(MCPFailure(.invalidRequest, "A message is an object. \(error)"), id: nil)
        }
        let id = members["id"].flatMap(Self.identifier)
        func reject(_ text: String, _ code: MCPFailure.Code = .invalidRequest) -> Rejection {
            Rejection(MCPFailure(code, text), id: id)
        }
        if members["id"] != nil, id == nil { throw reject("An id is a string or an integer.") }
        guard members["jsonrpc"].flatMap(Self.string) == "2.0" else {
            throw reject("A message has \"jsonrpc\":\"2.0\".")
        }
        self.id = id
        if members["method"] == nil, members["result"] != nil || members["error"] != nil {
            (method, parameters) = (nil, [:])
            return
        }
        guard let method = members["method"].flatMap(Self.string) else { throw reject("A method is a string.") }
        self.method = method
        guard let parameters = members["params"] else {
            self.parameters = [:]
            return
        }
        do {
            self.parameters = try Self.members(of: parameters)
        } catch {
            throw reject("The params are an object.", .invalidParameters)
        }
    }

    /// Why a message is invalid, and the id of the request.
    struct Rejection: Error {
        let failure: MCPFailure
        let id: String?

        init(_ failure: MCPFailure, id: String?) {
            self.failure = failure
            self.id = id
        }
    }

    /// Members of `_meta`.
    var meta: [String: String] { parameters["_meta"].flatMap { try? Self.members(of: $0) } ?? [:] }

    /// Returns a parameter that is a string; nil if it isn't one.
    func string(_ name: String) -> String? { parameters[name].flatMap(Self.string) }

    // MARK: JSON

    /// Returns the messages of a line: one, or those of an array.
    ///
    /// - Throws: `JSONReader.Malformed` if it isn't JSON.
    static func values(of line: [UInt8]) throws -> (values: [String], isBatch: Bool) {
        var reader = try JSONReader(line)
        let text = try reader.text()
        try reader.finish()
        guard text.hasPrefix("[") else { return ([text], false) }
        return (try elements(of: text), true)
    }

    static func elements(of json: String) throws -> [String] {
        var reader = try JSONReader(json.utf8)
        var values: [String] = []
        try reader.array { values.append(try $0.text()) }
        return values
    }

    static func members(of json: String) throws -> [String: String] {
        var reader = try JSONReader(json.utf8)
        return try reader.fields()
    }

    static func string(_ json: String) -> String? {
        guard json.hasPrefix("\""), var reader = try? JSONReader(json.utf8) else { return nil }
        return try? reader.string()
    }

    /// Returns an id in a canonical form, however its characters were escaped; nil if it is invalid.
    static func identifier(_ json: String) -> String? {
        if let text = string(json) { return MCPValue.text(text).text }
        return Int64(json).map { String($0) }
    }
}
