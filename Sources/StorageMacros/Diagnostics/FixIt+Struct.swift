internal import SwiftDiagnostics
internal import SwiftSyntax

extension FixIt {
    /// Changes another type to a struct. `final` has no meaning there, so it is removed with the word `class`.
    static func toStruct(_ keyword: TokenSyntax, _ modifiers: DeclModifierListSyntax) -> FixIt {
        let change = FixIt.Change.replaceText(range: keyword.trimmedRange, with: "struct", in: Syntax(keyword))
        let final = modifiers.first { $0.name.tokenKind == .keyword(.final) }.map {
            FixIt.Change.replaceText(
                range: $0.positionAfterSkippingLeadingTrivia..<$0.endPosition, with: "", in: Syntax($0))
        }
        return FixIt(
            message: MacroFixIt("to-struct", "Change '\(keyword.text)' to 'struct'"),
            changes: [final, change].compactMap { $0 })
    }

    /// Inserts a member at the beginning of a struct, which may be empty or on one line.
    ///
    /// - Parameter member: A declaration that ends so that another may follow on the same line, after a semicolon.
    static func add(_ member: String, to structure: StructDeclSyntax, id: String, _ message: String) -> FixIt {
        let members = structure.memberBlock
        let isOnOneLine = !members.members.contains { $0.leadingTrivia.contains(where: \.isNewline) }
        let text =
            if members.members.isEmpty {
                " \(member) "
            } else if isOnOneLine {
                " \(member);"
            } else {
                "\n\(structure.memberIndentation)\(member)"
            }
        return MacroFixIt.insert(
            text, at: members.leftBrace.endPositionBeforeTrailingTrivia, in: members.leftBrace, id: id, message)
    }
}
