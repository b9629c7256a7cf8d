internal import SwiftDiagnostics
internal import SwiftParser
internal import SwiftParserDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacroExpansion
internal import SwiftSyntaxMacros

/// What the macros make of a source, as text that a reviewer can read.
struct MacroExpansion {
    /// The source with every macro expanded, under a line that keeps the formatter away: a macro's expansion has the
    /// line breaks that the compiler gives it.
    let expanded: String
    /// The source with carets under what is reported, the fix-its, and the source that they lead to. Empty where
    /// nothing is reported.
    let diagnostics: String
    /// The identifiers of what is reported.
    let identifiers: Set<String>
    /// Syntax errors of the expanded source, which no expansion may have.
    let syntaxErrors: String

    init(of source: String) {
        let file = Parser.parse(source: source)
        let context = BasicMacroExpansionContext(
            sourceFiles: [file: .init(moduleName: "Shop", fullFilePath: "Shop.swift")])
        let expandedFile = file.expand(
            macroSpecs: Self.macros,
            contextGenerator: {
                BasicMacroExpansionContext(sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
            },
            indentationWidth: .spaces(4))
        expanded = Self.header + expandedFile.description
        identifiers = Set(context.diagnostics.map { ($0.diagMessage as? MacroDiagnostic)?.id ?? $0.message })
        let errors = ParseDiagnosticsGenerator.diagnostics(for: expandedFile)
        syntaxErrors =
            errors.isEmpty ? "" : DiagnosticsFormatter.annotatedSource(tree: expandedFile, diags: errors)
        diagnostics = Self.rendering(of: context.diagnostics, in: file, context)
    }

    /// Prints the four texts in the order above, each with a NUL behind it; the identifiers have a line each.
    func print() {
        for text in [expanded, diagnostics, identifiers.sorted().joined(separator: "\n"), syntaxErrors] {
            Swift.print(text, terminator: "\0")
        }
    }
}

extension MacroExpansion {
    private static let header = "// swift-format-ignore-file\n"

    /// The macros as the modules that declare them do.
    private static let macros: [String: MacroSpec] = [
        "StorageEntity": MacroSpec(type: StorageEntityMacro.self, conformances: ["RegisteredEntity"]),
        "StorageJSON": MacroSpec(type: StorageRoleMacro.self),
        "StorageEmbedded": MacroSpec(type: StorageRoleMacro.self),
        "StorageHasMany": MacroSpec(type: StorageRoleMacro.self),
        "StorageBelongsTo": MacroSpec(type: StorageRoleMacro.self),
        "_StorageRecord": MacroSpec(type: StorageRecordMacro.self, conformances: ["StorageKitEntityRecord"]),
        "QuerySources": MacroSpec(type: QuerySourcesMacro.self, conformances: ["QuerySourceProvider"]),
    ]

    private static func rendering(
        of diagnostics: [Diagnostic], in file: SourceFileSyntax, _ context: BasicMacroExpansionContext
    ) -> String {
        if diagnostics.isEmpty { return "" }
        // A macro sees a copy of its declaration, so that what it reports has to be placed in the file first.
        let placed = diagnostics.map { diagnostic in
            Diagnostic(
                node: file, position: context.place(of: diagnostic.position, in: diagnostic.node),
                message: diagnostic.diagMessage, highlights: [], notes: [], fixIts: diagnostic.fixIts)
        }
        var text = DiagnosticsFormatter(contextSize: 100).annotatedSource(tree: file, diags: placed)
        let fixIts = diagnostics.flatMap(\.fixIts)
        if !fixIts.isEmpty {
            text += "\nFix-its:\n" + fixIts.map { "- \($0.message.message)\n" }.joined()
            text += "\nFixed:\n" + context.applying(fixIts.flatMap(\.changes), to: file)
        }
        return text
    }
}

extension BasicMacroExpansionContext {
    fileprivate func place(of position: AbsolutePosition, in node: Syntax) -> AbsolutePosition {
        AbsolutePosition(utf8Offset: location(for: position, anchoredAt: node, fileName: "").offset)
    }

    /// The file after changes that don't overlap.
    ///
    /// The macros of ours replace text only; another kind of change does nothing here and so fails its fixture.
    fileprivate func applying(_ changes: [FixIt.Change], to file: SourceFileSyntax) -> String {
        var edits: [(range: Range<Int>, text: String)] = []
        for case .replaceText(let range, let text, let node) in changes {
            let start = place(of: range.lowerBound, in: node).utf8Offset
            edits.append((start..<place(of: range.upperBound, in: node).utf8Offset, text))
        }
        var bytes = Array(file.description.utf8)
        // From the end on, so that the places of the others stay what they are.
        for edit in edits.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
            bytes.replaceSubrange(edit.range, with: edit.text.utf8)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
