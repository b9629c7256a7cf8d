// The modules that `import StorageKit` makes available. GRDB and Foundation are included because the code that @StorageEntity generates names them.
@_exported public import Foundation
@_exported public import GRDB
@_exported public import StorageCore
@_exported public import StorageEntities
@_exported public import StorageHistory
@_exported public import StorageLog
@_exported public import StorageMaintenance
@_exported public import StorageProjections
@_exported public import StorageRouting
@_exported public import StorageViews
