// What users of the facade reach by importing StorageKit alone. GRDB and Foundation are among it because the code that
// @StorageEntity writes into their files names them.
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
