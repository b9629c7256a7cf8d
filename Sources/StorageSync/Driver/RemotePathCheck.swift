/// Throws once the path is another one than that for which the task asks a hub.
///
/// Credentials are asked for between the decision to send something and the request, and somebody else may have signed in meanwhile:
/// what was written for one account must not go to another.
package enum RemotePathCheck {
    @TaskLocal package static var current: (@Sendable () async throws -> Void)?
}
