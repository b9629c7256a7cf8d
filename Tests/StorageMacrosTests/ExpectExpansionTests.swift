internal import SwiftSyntaxMacrosGenericTestSupport
internal import Testing

/// The helper itself: a wrong expectation must fail, in each of its parts.
@Suite struct ExpectExpansionTests {
    private static let source = "@StorageEntity class User {}"
    private static let expanded = "class User {}"
    private static let fixed = "@StorageEntity struct User {}"

    private static func diagnostic(_ message: String) -> DiagnosticSpec {
        DiagnosticSpec(
            message: message, line: 1, column: 16, fixIts: [FixItSpec(message: "Change 'class' to 'struct'")])
    }

    private static var right: DiagnosticSpec {
        diagnostic("Make 'User' a struct: an entity is a value, so @StorageEntity works on structs only.")
    }

    @Test func rightExpectationsPass() {
        expectExpansion(Self.source, expands: Self.expanded, diagnostics: [Self.right], fixedSource: Self.fixed)
    }

    @Test func wrongExpansionFails() {
        withKnownIssue { expectExpansion(Self.source, expands: "class Other {}", diagnostics: [Self.right]) }
    }

    @Test func missingDiagnosticFails() {
        withKnownIssue { expectExpansion(Self.source, expands: Self.expanded) }
    }

    @Test func wrongMessageFails() {
        withKnownIssue {
            expectExpansion(Self.source, expands: Self.expanded, diagnostics: [Self.diagnostic("Something else")])
        }
    }

    @Test func wrongFixFails() {
        withKnownIssue {
            expectExpansion(
                Self.source, expands: Self.expanded, diagnostics: [Self.right], fixedSource: "struct Other {}")
        }
    }

    /// The issue stands where the caller does, not in the helper.
    @Test func failuresNameTheCaller() {
        withKnownIssue {
            expectExpansion(Self.source, expands: "class Other {}", diagnostics: [Self.right])
        } matching: { issue in
            issue.sourceLocation?.fileName == "ExpectExpansionTests.swift"
        }
    }
}
