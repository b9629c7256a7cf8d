import ArgumentParser
import Foundation

extension MCPTool {
    static let defaultRows = 100
    static let maximumRows = 1000

    /// Returns the tool's entry in `tools/list`.
    func listing(for version: MCPVersion) throws -> MCPValue {
        var tool: MCPValue = ["name": .text(name)]
        if version.hasStructuredContent { tool = tool.adding(["title": .text(title)]) }
        tool = tool.adding(["description": .text(description), "inputSchema": try inputSchema()])
        if version.hasStructuredContent { tool = tool.adding(["outputSchema": outputSchema]) }
        guard version.hasAnnotations else { return tool }
        return tool.adding([
            "annotations": [
                "title": .text(title), "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
                "openWorldHint": false,
            ]
        ])
    }

    /// The command's help, without command line examples and exit statuses.
    private var description: String {
        if let about { return about }
        let paragraphs = type.configuration.discussion.split(separator: "\n").filter { line in
            !line.hasPrefix(" ") && !line.hasPrefix("Exits with")
        }
        return ([type.configuration.abstract] + paragraphs.map(String.init)).joined(separator: " ")
    }

    private func inputSchema() throws -> MCPValue {
        let options = try CommandDescription.read(type._dumpHelp()).arguments
        var properties = parameters.map { parameter in
            let option = options?.first { $0.names?.contains { $0.text == parameter.optionName } ?? false }
            return (
                name: parameter.name,
                value: parameter.schema(help: parameter.help ?? option?.abstract ?? "")
            )
        }
        if hasRows {
            properties.append(
                (
                    "limit",
                    MCPParameter.option("limit", .count(1...Self.maximumRows)).schema(
                        help: "At most so many rows. Default: \(Self.defaultRows).")
                ))
            properties.append(
                (
                    "cursor",
                    MCPParameter.option("cursor").schema(
                        help: "The cursor of the last answer, for the rows after it; of the other arguments only limit."
                    )
                ))
        }
        // A call with a cursor needs nothing else.
        let required = hasRows ? [] : parameters.filter(\.isRequired).map { MCPValue.text($0.name) }
        return [
            "type": "object", "properties": .object(properties), "required": .array(required),
            "additionalProperties": false,
        ]
    }

    private var outputSchema: MCPValue {
        var properties: [(name: String, value: MCPValue)] = [
            ("v", ["const": 1]), ("position", ["type": ["integer", "null"]]),
            ("commit", ["type": ["integer", "null"]]),
            ("time", ["type": ["string", "null"]]),
            ("points", ["type": "object", "additionalProperties": ["type": "integer"]]),
        ]
        var required: [MCPValue] = ["v", "position", "commit", "time"]
        switch answer {
        case .rows(let fields):
            properties.append(("rows", ["type": "array", "items": MCPField.schema(fields)]))
        case .document(let fields, _, let rows):
            properties.append(("document", MCPField.schema(fields)))
            required.append("document")
            if hasRows { properties.append(("rows", ["type": "array", "items": MCPField.schema(rows)])) }
        }
        if hasRows { required += ["rows", "truncated"] }
        properties += [
            ("truncated", ["type": "boolean"]), ("cursor", ["type": "string"]), ("next", ["type": "string"]),
            ("notes", ["type": "string"]), ("command", ["type": "string"]),
        ]
        return ["type": "object", "properties": .object(properties), "required": .array(required)]
    }
}
