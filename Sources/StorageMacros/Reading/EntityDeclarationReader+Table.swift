internal import SwiftDiagnostics
internal import SwiftParser
internal import SwiftSyntax

extension EntityDeclarationReader {
    /// The table's name: the argument `table:`, or else the struct's name in lower case with an `s`.
    mutating func table(of structure: StructDeclSyntax) -> String? {
        guard let argument = tableArgument, !argument.is(NilLiteralExprSyntax.self) else {
            let name = structure.name.bareText.lowercased() + "s"
            checkTable(
                name, at: structure.name, remedy: "Name another one with @StorageEntity(table: \"…\")",
                fixIts: [.rename(structure.name)])
            return name
        }
        guard let literal = argument.as(StringLiteralExprSyntax.self), let name = literal.representedLiteralValue else {
            report(
                "table-literal", at: argument,
                "Write the table's name as a string literal: the macro reads it before the program runs.",
                fixIts: [Self.naming(argument)])
            return nil
        }
        checkTable(name, at: literal, remedy: "Choose another name", fixIts: [Self.naming(literal)])
        return name
    }

    private var tableArgument: ExprSyntax? {
        guard case .argumentList(let arguments) = attribute.arguments else { return nil }
        return arguments.first { $0.label?.text == "table" }?.expression
    }

    /// A fix-it with a placeholder for the name.
    private static func naming(_ node: some SyntaxProtocol) -> FixIt {
        MacroFixIt.replaceNode(node, with: "\"<#name#>\"", id: "to-literal", "Write another name")
    }

    private mutating func checkTable(
        _ name: String, at node: some SyntaxProtocol, remedy: String, fixIts: [FixIt]
    ) {
        let folded = name.lowercased()
        if name.isEmpty {
            report(
                "table-empty", at: node, "Give the table a name, or leave 'table:' out: it can't be empty.",
                fixIts: fixIts)
        } else if name.utf8.contains(0) {
            report("table-nul", at: node, "\(remedy): a table's name can't hold a NUL character.", fixIts: fixIts)
        } else if folded.hasPrefix("storage_") {
            report(
                "table-reserved", at: node, "\(remedy): tables that start with 'storage_' belong to StorageKit.",
                fixIts: fixIts)
        } else if folded.hasPrefix("sqlite_") {
            report(
                "table-reserved", at: node, "\(remedy): tables that start with 'sqlite_' belong to SQLite.",
                fixIts: fixIts)
        } else if name.utf8.count > Self.maximumNameBytes {
            report(
                "name-too-long", at: node,
                "\(remedy): this one has \(name.utf8.count) bytes, a table's name at most \(Self.maximumNameBytes).",
                fixIts: fixIts)
        }
    }

    /// The maximum length of a name in the catalog, in bytes of UTF-8.
    static var maximumNameBytes: Int { 255 }
}
