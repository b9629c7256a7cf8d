internal import StorageMacros
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacroExpansion
internal import SwiftSyntaxMacros

/// The macros as `StorageKit` declares them.
let macroSpecs: [String: MacroSpec] = [
    "StorageEntity": MacroSpec(type: StorageEntityMacro.self, conformances: ["RegisteredEntity"]),
    "_StorageRecord": MacroSpec(type: StorageRecordMacro.self, conformances: ["StorageKitEntityRecord"]),
]
