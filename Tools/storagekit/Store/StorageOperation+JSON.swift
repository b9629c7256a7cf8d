import StorageCore
import StorageLog

extension StorageOperation {
    /// - Parameter outcome: Writes the members of the object that tells what became of it.
    init(_ command: String, subject: String? = nil, _ outcome: (inout JSONWriter) -> Void) {
        var json = JSONWriter()
        json.beginObject()
        outcome(&json)
        json.endObject()
        self.init(command, subject: subject, outcome: String(decoding: json.bytes, as: UTF8.self))
    }
}
