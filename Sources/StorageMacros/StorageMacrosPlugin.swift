internal import SwiftCompilerPlugin
internal import SwiftSyntaxMacros

@main
struct StorageMacrosPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        StorageEntityMacro.self, StorageRecordMacro.self, StorageRoleMacro.self, QuerySourcesMacro.self,
    ]
}
