internal import SwiftSyntax

extension StructDeclSyntax {
    /// The indentation of members, for members that a fix-it adds.
    var memberIndentation: String {
        let first = memberBlock.members.first { $0.leadingTrivia.contains(where: \.isNewline) }
        guard let pieces = first?.leadingTrivia.pieces else { return "    " }
        let own = pieces.reversed().prefix { !$0.isNewline }.filter(\.isSpaceOrTab).reversed()
        return Trivia(pieces: own).description
    }
}
