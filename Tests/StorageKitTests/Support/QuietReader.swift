import Foundation
import StorageKit

/// A store that another process writes to, with a heartbeat of an hour: a lost wake-up isn't mended by chance.
func quietReader(at path: String) throws -> Storage {
    var config = StorageConfig(isReadOnly: true)
    config.heartbeat = .seconds(3_600)
    return try StorageKit.start(at: URL(fileURLWithPath: path), config: config).facade
}
