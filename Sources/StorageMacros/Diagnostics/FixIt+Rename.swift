internal import SwiftDiagnostics
internal import SwiftSyntax

extension FixIt {
    /// Replaces a name by a placeholder.
    static func rename(_ name: TokenSyntax) -> FixIt {
        MacroFixIt.replace(name, with: "<#name#>", id: "rename", "Rename '\(name.bareText)'")
    }
}
