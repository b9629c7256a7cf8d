public import StorageKit
internal import Synchronization

extension PersistenceContainer {
    private static let configuration = Mutex<PersistenceContainer?>(nil)

    /// The container of sync engines that are made outside of any ``withDatabaseContainer(_:_:)-(_,()->Result)``; nil where none was
    /// named.
    public static var configured: PersistenceContainer? { configuration.withLock { $0 } }

    /// Names the container in which sync engines keep their documents, once, as the program starts.
    ///
    /// ```swift
    /// PersistenceContainer.configure(try .file(at: url) { $0.autoSchema(ProductRecord.self) })
    /// ```
    ///
    /// - Parameter container: nil to name none again. Engines that are in use keep theirs.
    public static func configure(_ container: PersistenceContainer?) { configuration.withLock { $0 = container } }
}
