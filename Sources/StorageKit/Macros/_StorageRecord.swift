/// Part of the expansion of ``StorageEntity(table:)``; not for direct use.
@attached(extension, conformances: StorageKitEntityRecord)
public macro _StorageRecord() = #externalMacro(module: "StorageMacros", type: "StorageRecordMacro")
