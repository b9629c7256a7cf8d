/// A value with a text as its id.
public protocol StringIdentifiable: Identifiable where ID == String {
    var id: String { get }
}

/// A document as sync engines keep it: a value with an id, which is sent as JSON.
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
/// A storage entity is kept in its own table, where queries and live views find it, and whatever changes that table is sent. Any
/// other type is kept as JSON in the table `sync_documents`.
///
/// What its `Codable` conformance leaves out isn't synchronised. Changes of two writers are merged by the top-level keys of its JSON.
public protocol DataSyncModelProtocol: StringIdentifiable, Codable, Sendable {
    /// What analytics get to know of the document; its id where nothing else is said.
    var eventParameters: [String: Any] { get }
}

extension DataSyncModelProtocol {
    public var eventParameters: [String: Any] { ["id": id] }
}

/// A value of a field that ``CollectionSyncEngine/updateDocument(id:data:expecting:)`` and remotes take: anything that can be written as JSON.
public typealias DMCodableSendable = Codable & Sendable
