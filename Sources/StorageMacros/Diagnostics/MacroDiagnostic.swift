internal import SwiftDiagnostics

/// An error that prevents an expansion: each message says what to do.
struct MacroDiagnostic: DiagnosticMessage {
    let message: String
    let diagnosticID: MessageID
    var severity: DiagnosticSeverity { .error }

    init(_ id: String, _ message: String) {
        self.message = message
        diagnosticID = MessageID(domain: "StorageMacros", id: id)
    }
}
