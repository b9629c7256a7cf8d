import StorageKit

extension StorageOperation {
    /// - Parameter outcome: Its outcome.
    init(_ command: String, subject: String? = nil, outcome: some JSONRecord) throws {
        var json = JSONWriter()
        try json.object(outcome)
        self.init(command, subject: subject, outcome: String(decoding: json.bytes, as: UTF8.self))
    }
}
