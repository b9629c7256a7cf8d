@_exported public import StorageKit
