import Foundation
import StorageKit

/// A store that another process writes to, with a heartbeat of an hour, which doesn't hide a lost wake-up.
func quietReader(at path: String) throws -> Storage {
    var config = StorageConfig(isReadOnly: true)
    config.heartbeat = .seconds(3_600)
    return try StorageKit.start(at: URL(fileURLWithPath: path), config: config).facade
}
