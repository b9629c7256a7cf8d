internal import StorageMacros
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacroExpansion
internal import SwiftSyntaxMacros

/// The macros as the modules that declare them do.
let macroSpecs: [String: MacroSpec] = [
    "StorageEntity": MacroSpec(type: StorageEntityMacro.self, conformances: ["RegisteredEntity"]),
    "StorageJSON": MacroSpec(type: StorageRoleMacro.self),
    "StorageEmbedded": MacroSpec(type: StorageRoleMacro.self),
    "StorageHasMany": MacroSpec(type: StorageRoleMacro.self),
    "StorageBelongsTo": MacroSpec(type: StorageRoleMacro.self),
    "_StorageRecord": MacroSpec(type: StorageRecordMacro.self, conformances: ["StorageKitEntityRecord"]),
    "QuerySources": MacroSpec(type: QuerySourcesMacro.self, conformances: ["QuerySourceProvider"]),
]
