/// Part of what ``StorageEntity(table:)`` writes; not for use by hand.
@attached(extension, conformances: StorageKitEntityRecord)
public macro _StorageRecord() = #externalMacro(module: "StorageMacrosPlugin", type: "StorageRecordMacro")
