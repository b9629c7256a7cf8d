/// Throws once the path differs from the one for which the task contacts a hub.
///
/// Credentials are requested between the decision to send something and the request, and somebody else may have signed
/// in by then: data written for one account must not go to another.
package enum RemotePathCheck {
    @TaskLocal package static var current: (@Sendable () async throws -> Void)?
}
