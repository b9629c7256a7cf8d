import Foundation
import StorageKit

extension StorageKit {
    /// A store that another process writes to, with a heartbeat of an hour: a lost wake-up isn't mended by chance.
    static func quietReader(at path: String) throws -> Storage {
        var configuration = StorageConfiguration()
        configuration.isReadOnly = true
        configuration.heartbeat = .seconds(3_600)
        return try start(at: URL(fileURLWithPath: path), configuration: configuration).facade
    }
}
