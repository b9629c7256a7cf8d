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

    @Test("Right expectations pass")
    func rightExpectationsPass() {
        expectExpansion(Self.source, expands: Self.expanded, diagnostics: [Self.right], fixedSource: Self.fixed)
    }

    @Test("A wrong expansion fails")
    func wrongExpansionFails() {
        withKnownIssue { expectExpansion(Self.source, expands: "class Other {}", diagnostics: [Self.right]) }
    }

    @Test("A missing diagnostic fails")
    func missingDiagnosticFails() {
        withKnownIssue { expectExpansion(Self.source, expands: Self.expanded) }
    }

    @Test("A wrong message fails")
    func wrongMessageFails() {
        withKnownIssue {
            expectExpansion(Self.source, expands: Self.expanded, diagnostics: [Self.diagnostic("Something else")])
        }
    }

    @Test("A wrong fix fails")
    func wrongFixFails() {
        withKnownIssue {
            expectExpansion(
                Self.source, expands: Self.expanded, diagnostics: [Self.right], fixedSource: "struct Other {}")
        }
    }

    /// The issue is located at the caller, not in the helper.
    @Test("Failures name the caller")
    func failuresNameCaller() {
        withKnownIssue {
            expectExpansion(Self.source, expands: "class Other {}", diagnostics: [Self.right])
        } matching: { issue in
            issue.sourceLocation?.fileName == "ExpectExpansionTests.swift"
        }
    }
}
