internal import SwiftDiagnostics
internal import SwiftSyntax

extension FixIt {
    /// Leaves a place for another name.
    static func rename(_ name: TokenSyntax) -> FixIt {
        MacroFixIt.replace(name, with: "<#name#>", id: "rename", "Rename '\(name.bareText)'")
    }
}
