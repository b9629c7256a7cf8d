internal import SwiftCompilerPlugin
internal import SwiftSyntaxMacros

/// The compiler plug-in: the macros under the names by which the compiler asks for them.
///
/// Run by hand with the argument `expand`, it reads sources from standard input, separated by NUL, and prints what the macros make
/// of each: see ``MacroExpansion``. The tests use that, so that swift-syntax is built once, for the host, and not again for what
/// is tested.
@main
struct StorageMacrosPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        StorageEntityMacro.self, StorageRecordMacro.self, StorageRoleMacro.self, QuerySourcesMacro.self,
    ]

    static func main() throws {
        guard CommandLine.arguments.dropFirst().first == "expand" else { return try answerCompiler(Self.self) }
        var input = ""
        while let line = readLine(strippingNewline: false) { input += line }
        for source in input.split(separator: "\0", omittingEmptySubsequences: false) {
            MacroExpansion(of: String(source)).print()
        }
    }

    /// The `main` of swift-syntax, whose name the plug-in's own one has.
    private static func answerCompiler<Plugin: CompilerPlugin>(_: Plugin.Type) throws { try Plugin.main() }
}
