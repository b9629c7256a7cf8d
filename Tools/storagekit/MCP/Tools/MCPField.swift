/// A member of the objects that a tool answers with, for the schema of its answer.
struct MCPField: Sendable {
    let name: String
    let types: [String]
    let isRequired: Bool

    static func always(_ name: String, _ types: String...) -> MCPField {
        MCPField(name: name, types: types, isRequired: true)
    }

    static func maybe(_ name: String, _ types: String...) -> MCPField {
        MCPField(name: name, types: types, isRequired: false)
    }

    /// Returns the JSON Schema of an object with these members. It allows others, because newer versions add members.
    static func schema(_ fields: [MCPField]) -> MCPValue {
        [
            "type": "object",
            "properties": .object(
                fields.map { field in
                    let types: MCPValue =
                        field.types.count == 1 ? .text(field.types[0]) : .array(field.types.map { .text($0) })
                    return (field.name, ["type": types])
                }),
            "required": .array(fields.filter(\.isRequired).map { .text($0.name) }),
        ]
    }

    // MARK: Records of the contract

    /// ``AuthorRecord``
    static let author: [MCPField] = [
        .always("actor", "string", "null"), .maybe("app", "string"), .maybe("reason", "string", "null"),
        .maybe("correlation", "string"),
    ]

    /// ``CommitRecord``
    static let commit: [MCPField] =
        [
            .always("commit", "integer"), .always("from", "integer"), .always("to", "integer"),
            .always("time", "string"),
            .maybe("clock", "string"), .maybe("attributes", "object"), .maybe("tags", "array"),
            .maybe("notes", "array"),
            .always("changes", "object"),
        ] + author

    /// ``ChangeRecord``
    static let change: [MCPField] = [
        .always("op", "string"), .always("table", "string"), .always("id", "string"),
        .always("old", "object", "null"), .always("new", "object", "null"),
    ]

    /// ``EventRecord``
    static let event: [MCPField] =
        [.always("position", "integer"), .always("commit", "integer"), .always("time", "string")] + author + change
}
