/// Throws once the path differs from the one for which the task contacts a hub.
///
/// Credentials are requested between the decision to send and the request, and another user may have signed in by then: data written for one account
/// must not go to another.
///
/// A struct around the closure: optimised by Swift 6.3, programs crash whose task-local values are functions.
package struct RemotePathCheck: Sendable {
    @TaskLocal package static var current: RemotePathCheck?
    private let check: @Sendable () async throws -> Void

    package init(_ check: @escaping @Sendable () async throws -> Void) { self.check = check }

    package func callAsFunction() async throws { try await check() }
}
