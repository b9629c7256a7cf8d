internal import SwiftSyntaxMacroExpansion
internal import SwiftSyntaxMacrosGenericTestSupport
internal import Testing

/// Expects what a source expands to, what is reported, and what the source becomes when every fix-it is applied.
///
/// The helper that comes with swift-syntax fails through XCTest only, so that under Swift Testing it stays green
/// whatever happens. This one records an issue where the caller stands, or where a `DiagnosticSpec` was made.
func expectExpansion(
    _ source: String,
    expands expanded: String,
    diagnostics: [DiagnosticSpec] = [],
    fixedSource: String? = nil,
    fileID: StaticString = #fileID,
    filePath: StaticString = #filePath,
    line: UInt = #line,
    column: UInt = #column
) {
    assertMacroExpansion(
        source,
        expandedSource: expanded,
        diagnostics: diagnostics,
        macroSpecs: macroSpecs,
        fixedSource: fixedSource,
        failureHandler: { failure in
            Issue.record(
                Comment(rawValue: failure.message),
                sourceLocation: SourceLocation(
                    fileID: failure.location.fileID, filePath: failure.location.filePath, line: failure.location.line,
                    column: failure.location.column))
        },
        fileID: fileID,
        filePath: filePath,
        line: line,
        column: column)
}
