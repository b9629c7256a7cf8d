internal import SwiftDiagnostics

/// An error that prevents an expansion: each message says what to do.
struct MacroDiagnostic: DiagnosticMessage {
    let id: String
    let message: String
    var diagnosticID: MessageID { MessageID(domain: "StorageMacros", id: id) }
    var severity: DiagnosticSeverity { .error }

    init(_ id: String, _ message: String) {
        self.id = id
        self.message = message
    }
}
