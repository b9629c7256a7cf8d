internal import SwiftDiagnostics
internal import SwiftSyntax

extension FixIt {
    static func toFileprivate(_ modifier: TokenSyntax) -> FixIt {
        MacroFixIt.replace(modifier, with: "fileprivate", id: "to-fileprivate", "Change 'private' to 'fileprivate'")
    }
}
