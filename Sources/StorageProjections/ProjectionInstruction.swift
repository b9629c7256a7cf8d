/// Instructions for a projection that don't need its rules.
package enum ProjectionInstruction: Sendable {
    case pause, resume, reset
}
