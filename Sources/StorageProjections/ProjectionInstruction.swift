/// What can be asked of a projection without knowing its rules.
package enum ProjectionInstruction: Sendable {
    case pause, resume, reset
}
