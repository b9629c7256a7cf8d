import GRDB
import StorageTesting

extension TemporaryStore {
    /// A connection of another program, which waits while the store is sealed.
    func otherProgram() throws -> DatabaseQueue {
        var configuration = GRDB.Configuration()
        configuration.busyMode = .timeout(60)
        return try DatabaseQueue(path: url.path, configuration: configuration)
    }
}
