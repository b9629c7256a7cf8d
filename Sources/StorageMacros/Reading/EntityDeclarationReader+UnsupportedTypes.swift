internal import SwiftDiagnostics
internal import SwiftSyntax

extension EntityDeclarationReader {
    /// Reports a type that evidently fills no column, if the attribute that would store it is missing. The macro can't resolve
    /// the name of a type; those are left to the compiler.
    ///
    /// - Returns: Whether there is nothing to report.
    mutating func checkStorable(
        _ type: TypeSyntax, of name: TokenSyntax, in variable: VariableDeclSyntax
    ) -> Bool {
        let whole = type.wrappedInOptional ?? type
        guard whole.isCollection || whole.isTuple || whole.isFunction else { return true }
        let spelled = type.trimmedDescription
        if name.bareText == "id" {
            report(
                "unsupported-id", at: type,
                "Give 'id' a type that fills one column, such as String, Int or UUID: '\(spelled)' doesn't.")
            return false
        }
        guard whole.isCollection else {
            report(
                "unsupported-type", at: type,
                whole.isTuple
                    ? "Make a 'Codable' struct of '\(spelled)' and mark '\(name.bareText)' @StorageJSON: a tuple can't be stored."
                    : "Compute '\(name.bareText)', or make it static: a function can't be stored.")
            return false
        }
        let isAlone = variable.bindings.count == 1
        report(
            "unsupported-type", at: type,
            "Mark '\(name.bareText)' @StorageJSON: '\(spelled)' fills no column by itself, as JSON it does.",
            fixIts: isAlone
                ? [
                    MacroFixIt.insert(
                        "@StorageJSON ", at: variable.positionAfterSkippingLeadingTrivia, in: variable,
                        id: "add-json", "Add '@StorageJSON'")
                ] : [])
        return false
    }
}
