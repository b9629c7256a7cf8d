/// An error of JSON-RPC: why a request isn't answered.
struct MCPFailure: Error {
    enum Code: Int {
        case parseError = -32_700
        case invalidRequest = -32_600
        case methodNotFound = -32_601
        case invalidParameters = -32_602
        case tooManyCalls = -32_000
        case unsupportedVersion = -32_022
    }

    let code: Code
    /// What is wrong, and what to send instead.
    let message: String
    var data: MCPValue?

    init(_ code: Code, _ message: String, data: MCPValue? = nil) {
        self.code = code
        self.message = message
        self.data = data
    }

    /// Returns the error as a response.
    ///
    /// - Parameter id: The request's id as JSON; nil if it isn't known.
    func response(to id: String?) -> String {
        var error: MCPValue = ["code": .integer(code.rawValue), "message": .text(message)]
        if let data { error = error.adding(["data": data]) }
        let whole: MCPValue = ["jsonrpc": "2.0", "id": .json(id ?? "null"), "error": error]
        return whole.text
    }
}
