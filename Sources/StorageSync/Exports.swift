// Sources consist of entities and queries, so importing StorageSync imports those as well.
@_exported public import StorageKit
