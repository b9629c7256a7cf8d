// Sources are made of entities and queries, so whoever imports StorageSync has those as well.
@_exported public import StorageKit
