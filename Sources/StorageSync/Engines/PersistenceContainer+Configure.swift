public import StorageKit
internal import Synchronization

extension PersistenceContainer {
    private static let configuration = Mutex<PersistenceContainer?>(nil)

    /// The container of sync engines that are created outside of any ``withDatabaseContainer(_:_:)-(_,()->Result)``;
    /// nil if none was configured.
    public static var configured: PersistenceContainer? { configuration.withLock { $0 } }

    /// Sets the container in which sync engines keep their documents. Call it once at program start.
    ///
    /// ```swift
    /// PersistenceContainer.configure(try .file(at: url) { $0.autoSchema(ProductRecord.self) })
    /// ```
    ///
    /// - Parameter container: The container; nil removes the setting. Engines in use keep their container.
    public static func configure(_ container: PersistenceContainer?) { configuration.withLock { $0 = container } }
}
