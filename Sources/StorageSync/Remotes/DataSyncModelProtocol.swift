/// A value identified by a string.
public protocol StringIdentifiable: Identifiable where ID == String {
    /// The id of the value.
    var id: String { get }
}

/// A document of a sync engine: a value with an id that is sent as JSON.
///
/// ```swift
/// @StorageEntity
/// struct Product: DataSyncModelProtocol {
///     var id: String
///     var name: String
///     var price: Double
/// }
/// ```
///
/// A storage entity is kept in its own table, where queries and live views find it, and all changes of that table are
/// sent. Any other type is kept as JSON in the table `sync_documents`.
///
/// Properties that its `Codable` conformance leaves out aren't synchronized. Changes by two writers are merged by the
/// top-level keys of the document's JSON.
public protocol DataSyncModelProtocol: StringIdentifiable, Codable, Sendable {
    /// The document's properties for analytics; its id by default.
    var eventParameters: [String: Any] { get }
}

extension DataSyncModelProtocol {
    /// The document's id.
    public var eventParameters: [String: Any] { ["id": id] }
}

/// A value of a field that ``CollectionSyncEngine/updateDocument(id:data:expecting:)`` and remotes accept: anything
/// that can be encoded as JSON.
public typealias DMCodableSendable = Codable & Sendable
